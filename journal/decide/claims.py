"""Control facts of a run: its claim of the turn, and its attempts' claims of operations.

Rule: a claim needs the newest epoch and must be what `plan` gives now. The same nonce again is the same
claim (its commit's answer was lost) and records nothing new. A run claims its turn once: what is retried
later is another run's. A run that finds its turn parked claims nothing: wake-ups of a paused turn would
else count as runs without progress and fail it in the end.
"""

from __future__ import annotations

from turnwright.journal import entry_ids
from turnwright.journal.actions import Delay, ModelOp, Park, Start, ToolOp, Work
from turnwright.journal.budgets import Used
from turnwright.journal.closing import forsake_failed
from turnwright.journal.commands import Claiming, ClaimRun, Look, Rejection, RequestModel, StartTool
from turnwright.journal.control import CallOperation, Claim
from turnwright.journal.decide.context import Context, Decision
from turnwright.journal.decide.policy import decide_start
from turnwright.journal.entries import (
    Draft,
    InputApplied,
    ModelRequested,
    Payload,
    RunClaimed,
    ThreadOpened,
    ToolStarted,
    TurnStarted,
)
from turnwright.journal.plan import plan
from turnwright.journal.turn_status import status_draft

SUPERSEDED = Rejection("superseded", "a newer run has the turn")
HELD = Rejection("held", "another attempt that lives has claimed it")
NOT_DUE = Rejection("not_due", "it may not start now")
PRESENCE_LOST = Rejection("presence_lost", "others take this process for dead; claim again when its presence is held")


def look(context: Context, command: Look) -> Decision:
    """Nothing is recorded for a look itself; a run that is not the newest is told so."""
    return [] if command.epoch is None or _is_newest(context, command.epoch, command.run) else SUPERSEDED


def _is_newest(context: Context, epoch: int, run: str) -> bool:
    """Whether the epoch is the thread's and was given to this run.

    A run whose own claim was refused knows the epoch too, that of the run before it.
    """
    return epoch == context.control.epoch and run in ("", context.control.run)


def claim_run(context: Context, command: ClaimRun) -> Decision:
    """Give the run its epoch; start the turn if it is queued; pin the agent if it is not pinned yet."""
    control, turn_id = context.control, command.turn_id
    if control.run == command.run:
        return [] if control.turn(turn_id) is not None else SUPERSEDED
    if control.epoch != command.start_epoch:
        return SUPERSEDED
    action = plan(control, context.session, context.facts, turn_id)
    if control.turn(turn_id) is None and not isinstance(action, Start):
        return Rejection("not_startable", "the turn is not at the front, or is held")
    if isinstance(action, Park):
        return Rejection("parked", f"the turn is parked: {action.why}")
    if not control.opened and command.definition is None:
        return Rejection("agent_unknown", "this worker does not know the agent")
    drafts: list[Draft] = []
    if not control.opened and command.definition is not None:
        drafts.append(Draft("thread:opened", ThreadOpened(agent=command.definition)))
    if isinstance(action, Start):
        drafts += [*forsake_failed(control, "a later turn started"), _turn_started(context)]
    epoch = control.epoch + 1
    waits = isinstance(action, Delay) and action.why == "reserved"
    claimed = RunClaimed(start_epoch=command.start_epoch, temporal_run_id=command.run, waits=waits)
    entry_id = entry_ids.run(turn_id, command.run)
    drafts.append(Draft(entry_id, claimed, turn_id=turn_id, run=command.run, epoch=epoch))
    return drafts


def request_model(context: Context, command: RequestModel) -> Decision:
    """Claim the model call: the pending input joins the context in the same batch."""
    control = context.control
    active = control.turn(command.turn_id)
    model = None if active is None else active.model
    known = _known_claim(context, command, None if model is None or model.step != command.step else model.claim)
    if active is None or known is not None:
        return SUPERSEDED if known is None else known
    action = plan(control, context.session, context.facts, command.turn_id)
    ops = action.start if isinstance(action, Work) else ()
    op = next((o for o in ops if isinstance(o, ModelOp) and o.step == command.step), None)
    if op is None:
        return NOT_DUE
    entry_id = entry_ids.model(command.turn_id, op.step, op.ordinal, "requested")
    drafts: list[Draft] = []
    if active.inputs or control.injected:
        applied = InputApplied(through_seq=control.seq)
        drafts.append(Draft(entry_ids.caused(entry_id, 0), applied, turn_id=command.turn_id))
    reserve = Used() if context.session.budget is None else command.reserve
    payload = ModelRequested(
        ordinal=op.ordinal,
        nonce=command.nonce,
        presence=command.presence,
        view_seq=control.seq + len(drafts),
        model=command.model,
        reserved_tokens=reserve.tokens,
        reserved_microusd=reserve.cost_microusd,
    )
    return [*drafts, _operation(command, entry_id, payload, op.step)]


def start_tool(context: Context, command: StartTool) -> Decision:
    """Claim the tool call, or record what stands against it: permissions may have changed since the model asked."""
    control = context.control
    active = control.turn(command.turn_id)
    call = active.call(command.call_id) if active is not None and command.step == active.step else None
    known = _known_claim(context, command, None if call is None else call.claim)
    if active is None or known is not None:
        return SUPERSEDED if known is None else known
    action = plan(control, context.session, context.facts, command.turn_id)
    ops = action.start if isinstance(action, Work) else ()
    op = next((o for o in ops if isinstance(o, ToolOp) and o.call_id == command.call_id), None)
    if op is None or call is None:
        return NOT_DUE
    against = decide_start(context, call, command)
    if against:
        return _against(command, call, against)
    payload = ToolStarted(
        call_id=call.call_id,
        name=call.name,
        ordinal=op.ordinal,
        nonce=command.nonce,
        presence=command.presence,
        key=f"{command.turn_id}/{call.call_id}",
    )
    entry_id = entry_ids.tool(command.turn_id, op.step, call.call_id, op.ordinal, "started")
    return [_operation(command, entry_id, payload, op.step)]


def _against(command: StartTool, call: CallOperation, payloads: list[Payload]) -> list[Draft]:
    """Why the call does not start; it may be asked about again later, so the ids count the questions."""
    stem = entry_ids.tool(command.turn_id, command.step, call.call_id, call.ordinal, f"held-{call.asks}")
    return [
        Draft(entry_ids.caused(stem, n), payload, turn_id=command.turn_id, step=command.step)
        for n, payload in enumerate(payloads)
    ]


def _known_claim(context: Context, command: Claiming, claim: Claim | None) -> Decision | None:
    """The answer that follows from who has the operation already, or from who asks; None: it may be claimed.

    An attempt's own claim is its own whatever run came after it. One that was told otherwise, because the answer of
    its commit was lost and a newer run had taken the turn, would never report, and the operation run for ever.
    """
    if claim is not None and claim.nonce == command.nonce:
        return []
    if not _is_newest(context, command.epoch, command.run):
        return SUPERSEDED
    if claim is not None:
        return HELD
    return PRESENCE_LOST if command.presence in context.facts.dead else None


def _turn_started(context: Context) -> Draft:
    front = context.facts.front
    assert front is not None, "plan said Start"
    payload = TurnStarted(
        queued_seq=front.queued_seq,
        session_seq=front.session_seq,
        steps=front.steps,
        budget=front.budget,
        parent=front.parent,
        revision=front.revision + 1,
    )
    return status_draft(front.turn_id, payload)


def _operation(
    command: RequestModel | StartTool, entry_id: str, payload: ModelRequested | ToolStarted, step: int
) -> Draft:
    return Draft(entry_id, payload, turn_id=command.turn_id, run=command.run, step=step, epoch=command.epoch)
