"""What a fork and a rewind record: which state the thread begins with, or goes on with.

Rule: neither copies anything of the history. What the thread's own decisions go by is in the entry, because they are a
fold of its own log; what the agent knows is read from where it stands.
"""

from __future__ import annotations

from turnwright.journal.agent_state import AgentState
from turnwright.journal.closing import forsake_failed
from turnwright.journal.commands import ForkThread, Rejection, RewindThread
from turnwright.journal.decide.context import Context, Decision, recorded
from turnwright.journal.entries import ThreadForked, ThreadRewound
from turnwright.journal.permissions.change import joined


def fork(base: AgentState, base_hash: bytes, command: ForkThread) -> ThreadForked:
    """The first entry of a thread that begins with that state of another one."""
    return ThreadForked(
        origin=base.thread_id,
        session=None if command.session in (None, base.session_id) else base.session_id,
        at_seq=base.as_of_seq,
        origin_hash=base_hash.hex(),
        agent=base.agent,
        permissions=base.permissions,
        planning=base.plan.active,
        injected=_injected(base),
        principal=command.principal,
        reason=command.reason,
    )


def rewind(context: Context, command: RewindThread) -> Decision:
    """Go on as it was at an entry, if nothing was written since the caller looked and no turn is in the way."""
    refused = _not_now(context, command)
    if refused is not None:
        return refused
    base, state = context.facts.base, context.facts.state
    if base is None or state is None:
        return Rejection(
            "unknown_entry", f"the thread has the entries 1 to {context.control.seq}, not {command.to_seq}"
        )
    pinned_since = state.agent if base.agent is None else None
    payload = ThreadRewound(
        to_seq=command.to_seq,
        to_hash=context.facts.base_hash.hex(),
        permissions=base.permissions if pinned_since is None else joined(pinned_since.permissions, base.permissions),
        planning=base.plan.active,
        injected=_injected(base),
        usage=state.usage,
        agent=pinned_since,
        principal=command.principal,
        reason=command.reason,
    )
    # A retry would go on with a conversation that is not there any more.
    return [*forsake_failed(context.control, "the thread was rewound"), *recorded(command, payload)]


def _not_now(context: Context, command: RewindThread) -> Rejection | None:
    control = context.control
    if control.seq != command.expected_seq:
        stale = f"the thread is at entry {control.seq}, not {command.expected_seq}; look at what was written since"
        return Rejection("stale_seq", stale)
    if control.active is not None or control.queued:
        return Rejection("busy", "the thread has a turn that is active, queued or held; wait for its end, or cancel it")
    if command.to_seq == control.seq:
        return Rejection("nothing_to_rewind", f"entry {control.seq} is the last one; nothing came since")
    return None


def _injected(base: AgentState) -> int:
    return sum(pending.turn_id is None for pending in base.inbox)
