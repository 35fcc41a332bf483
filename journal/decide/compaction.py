"""What of a conversation gives way, recorded under the lock if nothing speaks against it.

Rule: the attempt that has claimed the step's model call may, and only with the conversation as it is now. A summary
with a fault takes the place of nothing; that it failed is recorded, so that it is not tried before each model call.
An attempt does so once: said again, because the answer of its commit was lost, it would find the messages gone already
and take that for a fault.
"""

from __future__ import annotations

from collections.abc import Sequence

from turnwright.journal import entry_ids
from turnwright.journal.commands import CompactContext, CompactThread, ListTools, Rejection
from turnwright.journal.context.candidate import faults, with_stubs
from turnwright.journal.context.stubs import text_of
from turnwright.journal.context.tokens import request_tokens
from turnwright.journal.decide.context import Context, Decision, recorded
from turnwright.journal.entries import (
    ContextCompacted,
    ContextCompactionFailed,
    ContextCompactionRequested,
    ContextOffloaded,
    Draft,
    Payload,
)
from turnwright.journal.messages import Message

REASON_CHARACTERS_MAX = 500
COMPACTED = "compacted"


def request_compaction(context: Context, command: CompactThread) -> Decision:
    """Ask that something gives way before the next model call, whichever turn's that is."""
    state = context.facts.state
    if state is not None and state.compaction.requested_seq:
        asked = f"it was asked for in entry {state.compaction.requested_seq}"
        return Rejection("already_requested", f"{asked}, and happens with the thread's next model call")
    if state is None or not state.context:
        return Rejection("nothing_to_compact", "the conversation is empty: no model has been sent anything yet")
    payload = ContextCompactionRequested(principal=command.principal, reason=command.reason)
    return recorded(command, payload)


def compact_context(context: Context, command: CompactContext) -> Decision:
    """Record what gives way, and that a summary failed; or say what speaks against it."""
    if context.facts.repeated:
        return []
    if not has_claimed(context, command):
        return Rejection("no_claim", "this attempt does not have the step's model call (any more)")
    messages = () if context.facts.state is None else context.facts.state.context
    against = _not_so_long(messages, command.offloads)
    if against is not None:
        return Rejection("not_compactable", against)
    payloads: list[Payload] = [*command.offloads, *_summary(context, command, with_stubs(messages, command.offloads))]
    if not payloads:
        return Rejection("not_compactable", "nothing would give way")
    return of_attempt(command, COMPACTED, payloads)


def compaction_entry_id(command: CompactContext) -> str:
    """The id of the first entry that the command records."""
    return entry_ids.caused(entry_ids.model(command.turn_id, command.step, command.ordinal, COMPACTED), 0)


def has_claimed(context: Context, command: CompactContext | ListTools) -> bool:
    """Whether the command is of the attempt that has the step's model call, and of the newest run."""
    active = context.control.turn(command.turn_id)
    model = None if active is None else active.model
    if active is None or model is None or model.claim is None or active.status.phase == "cancelling":
        return False
    return command.epoch == context.control.epoch and (model.step, model.ordinal) == (command.step, command.ordinal)


def of_attempt(command: CompactContext | ListTools, what: str, payloads: Sequence[Payload]) -> list[Draft]:
    """The entries that `what` the attempt did brought about."""
    cause = entry_ids.model(command.turn_id, command.step, command.ordinal, what)
    return [
        Draft(
            entry_ids.caused(cause, index), payload,
            turn_id=command.turn_id, run=command.run, step=command.step, epoch=command.epoch,
        )
        for index, payload in enumerate(payloads)
    ]  # fmt: skip


def _not_so_long(messages: tuple[Message, ...], offloads: tuple[ContextOffloaded, ...]) -> str | None:
    results = {(result.id, message.seq): text_of(result) for message in messages for result in message.results}
    for offload in offloads:
        text = results.get((offload.call_id, offload.result_seq), "")
        if len(text) <= len(offload.stub):
            return f"the conversation has no such long result of {offload.call_id} from entry {offload.result_seq}"
    return None


def _summary(
    context: Context, command: CompactContext, messages: tuple[Message, ...]
) -> tuple[ContextCompacted | ContextCompactionFailed, ...]:
    """The summary, or why there is none; nothing when none was wanted."""
    compacted = command.compacted
    failed = command.failed if compacted is None else "; ".join(faults(messages, compacted))
    if failed:
        state = context.facts.state
        tokens = 0 if state is None else request_tokens(state)
        usage = command.usage if compacted is None else compacted.usage
        return (ContextCompactionFailed(reason=failed[:REASON_CHARACTERS_MAX], tokens=tokens, usage=usage),)
    return () if compacted is None else (compacted,)
