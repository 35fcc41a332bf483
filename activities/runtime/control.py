"""Short journal access for workflows: claim, look, dispatch, wake, fan out.

Rule: these run as local activities; each is one or two short transactions and may be repeated.
"""

from __future__ import annotations

from temporalio import activity

from turnwright.activities.runtime.attempt import agent_unknown
from turnwright.activities.runtime.committing import commit
from turnwright.activities.runtime.parts import Parts
from turnwright.activities.runtime.persist import quietly
from turnwright.journal.actions import Park, Stop
from turnwright.journal.commands import CancelTurn, ClaimRun, ClientCommand, Look, PauseTurn, ResumeTurn
from turnwright.journal.ids import ThreadKey
from turnwright.journal.transact.runs import ThreadGone
from turnwright.workflows.payloads import (
    Claimed,
    ClaimInput,
    Dispatched,
    DispatchInput,
    HandTyped,
    LookInput,
    Next,
    ThreadInput,
    next_of,
)

_GONE = Next("stop", why="finished")


async def claim_turn(parts: Parts, given: ClaimInput) -> Claimed:
    """Take the turn for a run, and say what is first."""
    key = ThreadKey.parse(given.thread)
    agent = parts.registry.get(key.agent)
    command = ClaimRun(
        turn_id=given.turn,
        run=given.run,
        start_epoch=given.epoch,
        definition=None if agent is None else agent.definition,
    )
    await parts.boundary("turn:claiming")
    try:
        outcome = await commit(parts, key, command)
    except ThreadGone:
        return Claimed(given.epoch, _GONE, has_turn=False)
    control, rejection = outcome.control, outcome.rejection
    if rejection is not None and rejection.code == "agent_unknown":
        return Claimed(control.epoch, Next("agent_unknown", control.seq), has_turn=False)
    # The epoch of a refused claim is another run's: a place to claim from, not one to act under.
    return Claimed(control.epoch, next_of(outcome.action, control.seq), has_turn=rejection is None)


async def claim_known_turn(parts: Parts, given: ClaimInput) -> Claimed:
    """Take the turn on a worker that knows its agent; any other gives it back for the next to try."""
    claimed = await claim_turn(parts, given)
    if claimed.next.kind != "agent_unknown":
        return claimed
    raise agent_unknown(parts, ThreadKey.parse(given.thread), given.turn)


async def look(parts: Parts, given: LookInput) -> Next:
    """Record what has become due and say what is next."""
    command = Look(turn_id=given.turn, epoch=given.epoch, run=activity.info().workflow_run_id or "")
    try:
        outcome = await commit(parts, ThreadKey.parse(given.thread), command)
    except ThreadGone:
        return _GONE
    if outcome.control.epoch != given.epoch:
        return Next("stop", outcome.control.seq, why="superseded")
    return next_of(outcome.action, outcome.control.seq)


async def dispatch_thread(parts: Parts, given: DispatchInput) -> Dispatched:
    """Wake the turn that has something to do, starting its workflow if none runs.

    One that has nothing to do is woken only if its workflow runs, and may not know it yet.
    """
    key = ThreadKey.parse(given.thread)
    found = await parts.journal.dispatch(key)
    await parts.boundary("thread:looked")
    if found.turn_id is None:
        return Dispatched(again=found.again)
    if isinstance(found.action, Park | Stop):
        if given.nudge:
            await quietly(parts.waker.nudge_turn(key, found.turn_id))
        return Dispatched(again=found.again and isinstance(found.action, Stop))
    await parts.waker.turn(key, found.turn_id, found.epoch)
    return Dispatched(again=False, turn=found.turn_id)


async def wake_thread(parts: Parts, given: ThreadInput) -> None:
    """Wake a thread whose turn leaves, if it has another to run; whoever submits one after this look wakes it too.

    Without the look each turn started its thread's workflow twice, which cost a third of the time of a short turn.
    """
    key = ThreadKey.parse(given.thread)
    row = await parts.journal.thread(key)
    if row is not None and (row.control.queued or row.control.active is not None):
        await parts.waker.thread(key, left=True)


async def record_hand_typed(parts: Parts, given: HandTyped) -> str:
    """Journal a command that came by signal; returns why it was rejected, or nothing."""
    key = ThreadKey.parse(given.thread)
    receipt = await parts.journal.execute(key, await _command_of(parts, key, given))
    return "" if receipt.status == "accepted" else f"{given.name}: {receipt.reason}"


async def _command_of(parts: Parts, key: ThreadKey, given: HandTyped) -> ClientCommand:
    who = {"request_id": given.request, "turn_id": given.turn, "principal": "temporal signal"}
    if given.name == "pause":
        return PauseTurn(**who)
    if given.name == "cancel":
        return CancelTurn(**who)
    status = await parts.journal.turn(key, given.turn)
    return ResumeTurn(**who, revision=0 if status is None else status.revision)
