"""One attempt of a tool call: claim, check, run, report; and the question to a tool's reconcile hook.

Rule: the body of a `once` tool starts only while its claim is known to be fresh. Whatever the tool does,
the turn gets a result; an attempt that was stopped says whether its effect is known.
"""

from __future__ import annotations

import time

import structlog

from turnwright.activities.runtime.attempt import Attempt, Parts
from turnwright.activities.runtime.supervise import Ended, supervise
from turnwright.activities.tool_context import ToolContext
from turnwright.activities.tool_host import ToolOutcome
from turnwright.activities.tools import Tool
from turnwright.journal.agent_state import AgentState
from turnwright.journal.commands import FinishTool, Look, SettleCall, StartTool
from turnwright.journal.control import CallOperation
from turnwright.journal.entries.operation import ToolOutcome as Outcome
from turnwright.journal.messages import Text, ToolCall
from turnwright.journal.transact.thread_script import Outcome as Committed
from turnwright.workflows.payloads import Next, StepInput

log = structlog.get_logger(__name__)


async def tool_call(parts: Parts, given: StepInput) -> Next:
    """Carry out a tool call and say what the turn does next."""
    attempt = Attempt.begin(parts, given)
    state = await attempt.state()
    asked = _asked(state, given.call)
    tool = None if asked is None else parts.registry.tool(attempt.key.agent, asked.name)
    if asked is not None and tool is None:
        raise attempt.agent_unknown()
    begun = time.monotonic()
    outcome = await attempt.commit(
        StartTool(
            turn_id=given.turn,
            run=attempt.run_id,
            epoch=given.epoch,
            step=given.step,
            nonce=attempt.nonce,
            presence=attempt.presence,
            call_id=given.call,
        )
    )
    call = _claimed(outcome, given)
    if outcome.rejection is not None or call is None or asked is None or tool is None:
        log.info("tool_call_not_claimed", code=outcome.rejection and outcome.rejection.code)
        return attempt.next_of(outcome)
    if not await _still_ours(attempt, call, begun):
        return attempt.next_of(await attempt.commit(Look(turn_id=given.turn, epoch=given.epoch)))
    ended = await _run(attempt, tool, asked, state, outcome, call)
    return await attempt.report(_testimony(attempt, call, ended))


async def reconcile_call(parts: Parts, given: StepInput) -> Next:
    """Ask the tool's hook what became of a call, and record what it knows."""
    attempt = Attempt.begin(parts, given)
    state = await attempt.state()
    asked = _asked(state, given.call)
    outcome = await attempt.commit(Look(turn_id=given.turn, run=attempt.run_id, epoch=given.epoch))
    call = _claimed(outcome, given)
    if asked is None or call is None or call.state != "unknown":
        return attempt.next_of(outcome)
    tool = parts.registry.tool(attempt.key.agent, asked.name)
    if tool is None:
        raise attempt.agent_unknown()
    found = await parts.tools.reconcile(tool, asked, _context(attempt, state, call))
    return await attempt.report(
        SettleCall(
            turn_id=given.turn,
            run=attempt.run_id,
            epoch=given.epoch,
            step=given.step,
            ordinal=call.ordinal,
            call_id=call.call_id,
            outcome=found.status,
            output=found.output,
            blobs=found.blobs,
        )
    )


async def _run(
    attempt: Attempt,
    tool: Tool[..., object],
    asked: ToolCall,
    state: AgentState,
    claimed: Committed,
    call: CallOperation,
) -> Ended[ToolOutcome]:
    parts = attempt.parts
    with parts.watcher.watching(attempt.watched(claimed, call.ordinal)) as watched:
        body = parts.tools.run(tool, asked, _context(attempt, state, call))
        return await supervise(body, watched, parts.settings.heartbeat_interval_s, None)


def _asked(state: AgentState, call_id: str) -> ToolCall | None:
    calls = (call for message in reversed(state.context) for call in message.calls)
    return next((call for call in calls if call.id == call_id), None)


def _claimed(outcome: Committed, given: StepInput) -> CallOperation | None:
    active = outcome.control.turn(given.turn)
    return None if active is None or active.step != given.step else active.call(given.call)


async def _still_ours(attempt: Attempt, call: CallOperation, begun: float) -> bool:
    """Whether the claim is known to be ours: committed moments ago, or looked up again if not."""
    if call.effect != "once" or time.monotonic() - begun < attempt.parts.settings.claim_fresh_s:
        return True
    row = await attempt.parts.journal.thread(attempt.key)
    active = None if row is None else row.control.turn(attempt.given.turn)
    now = None if active is None else active.call(call.call_id)
    return now is not None and now.claim is not None and now.claim.nonce == attempt.nonce


def _context(attempt: Attempt, state: AgentState, call: CallOperation) -> ToolContext:
    key = attempt.key
    return ToolContext(
        tenant=key.tenant,
        user=key.user,
        agent=key.agent,
        session=key.session,
        thread=key.thread,
        turn_id=attempt.given.turn,
        run_id=attempt.run_id,
        step=attempt.given.step,
        call_id=call.call_id,
        idempotency_key=f"{attempt.given.turn}/{call.call_id}",
        attempt=call.ordinal,
        state=state,
    )


def _testimony(attempt: Attempt, call: CallOperation, ended: Ended[ToolOutcome]) -> FinishTool:
    given = attempt.given
    outcome, text = _stopped(call, ended) if ended.value is None else (ended.value.result.outcome, "")
    value = ended.value
    return FinishTool(
        turn_id=given.turn,
        run=attempt.run_id,
        epoch=given.epoch,
        step=given.step,
        ordinal=call.ordinal,
        call_id=call.call_id,
        outcome=outcome,
        output=value.result.output if value is not None else ((Text(text=text),) if text else ()),
        duration_ms=0 if value is None else value.duration_ms,
        effect_unknown=(value is None and call.effect == "once") or (value is not None and value.effect_unknown),
        blobs={} if value is None else value.blobs,
    )


def _stopped(call: CallOperation, ended: Ended[ToolOutcome]) -> tuple[Outcome, str]:
    """The outcome of an attempt without a result."""
    match ended.stopped:
        case "drained":
            return "drained", ""
        case "abandoned":
            return "lost", ""
        case "cancelled":
            return ("unknown" if call.effect == "once" else "interrupted"), ""
        case None:
            log.error("tool_call_broke", exc_info=ended.error)
            return "error", f"The call broke inside the worker: {type(ended.error).__name__}."
