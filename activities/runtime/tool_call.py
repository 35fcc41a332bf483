"""One attempt of a tool call: claim, check, run, report.

Rule: the body of a `once` tool starts only while its claim is known to be fresh. The claim brings what this worker
found out about the call, and is not given if the permissions of this moment stand against it. Whatever the tool does,
the turn gets a result; an attempt that was stopped says whether its effect is known.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import structlog

from turnwright.activities.runtime.answers import answers_of
from turnwright.activities.runtime.attempt import Attempt
from turnwright.activities.runtime.call_facts import context_of, facts_of_call, spec_of, tool_of
from turnwright.activities.runtime.supervise import Ended, supervise
from turnwright.activities.runtime.watcher import Watched
from turnwright.activities.subagents import Opened
from turnwright.activities.tool_host import ToolAbandoned, ToolOutcome
from turnwright.activities.tools import Tool
from turnwright.journal.agent_state import AgentState
from turnwright.journal.commands import CallSpec, FinishTool, Spawn, StartTool
from turnwright.journal.control import CallOperation
from turnwright.journal.entries.operation import ToolOutcome as Outcome
from turnwright.journal.lineage import child_place
from turnwright.journal.messages import Text, ToolCall
from turnwright.journal.transact.thread_script import Outcome as Committed
from turnwright.workflows.payloads import Next, StepInput

log = structlog.get_logger(__name__)
NOT_ASKED = "The call is no longer part of the conversation, so it was not run."
NOT_KEPT = "The call was made, but the journal cannot hold what it returned."


@dataclass(frozen=True, slots=True)
class Claimed:
    """A claimed call: what the model asked for, who carries it out, and which attempt it is."""

    attempt: Attempt
    asked: ToolCall
    tool: Tool[..., Any]
    state: AgentState
    call: CallOperation


async def tool_call(attempt: Attempt) -> Next:
    """Carry out a tool call and say what the turn does next."""
    given = attempt.given
    await attempt.parts.boundary("tool:begun")
    state = await attempt.state()
    asked = asked_for(state, given.call)
    tool = None if asked is None else await tool_of(attempt, state, asked.name)
    if asked is not None and tool is None:
        raise attempt.agent_unknown(asked.name)
    command = await _claim(attempt, state, asked)
    begun_s = time.monotonic()
    outcome = await attempt.commit(command)
    call = call_of(outcome, given)
    if outcome.rejection is not None or call is None:
        return attempt.refused(outcome)
    if call.claim is None or call.claim.nonce != attempt.nonce:
        return attempt.next_of(outcome)
    attempt.lost = _finish(attempt, call, "lost")
    if asked is None or tool is None:
        gone = _finish(attempt, call, "error", NOT_ASKED)
        return await attempt.report(gone, gone)
    await attempt.parts.boundary("tool:claimed")
    if not await _still_ours(attempt, call, begun_s):
        return attempt.next_of(await attempt.look())
    return await _carry_out(Claimed(attempt, asked, tool, state, call), attempt.watched(outcome, call.ordinal))


async def _claim(attempt: Attempt, state: AgentState, asked: ToolCall | None) -> StartTool:
    spec = None if asked is None else spec_of(attempt, state, asked.name)
    return StartTool(
        **attempt.named,
        nonce=attempt.nonce,
        presence=attempt.presence,
        call_id=attempt.given.call,
        spec=None if spec is None else CallSpec.of(spec),
        facts=None if asked is None else await facts_of_call(attempt, state, asked),
        arguments={} if asked is None else asked.arguments,
    )


def asked_for(state: AgentState, call_id: str) -> ToolCall | None:
    """The call as the model asked for it."""
    calls = (call for message in reversed(state.context) for call in message.calls)
    return next((call for call in calls if call.id == call_id), None)


def call_of(outcome: Committed, given: StepInput) -> CallOperation | None:
    """The call as it stands after a transaction."""
    active = outcome.control.turn(given.turn)
    return None if active is None or active.step != given.step else active.call(given.call)


async def _carry_out(claimed: Claimed, watched: Watched) -> Next:
    attempt = claimed.attempt
    ended = await _run(claimed, watched)
    await attempt.parts.boundary("tool:ran")
    not_kept = _finish(attempt, claimed.call, "error", NOT_KEPT)
    following = await attempt.report(_testimony(claimed, ended), not_kept)
    await attempt.parts.boundary("tool:reported")
    return following


async def _run(claimed: Claimed, watched: Watched) -> Ended[ToolOutcome]:
    attempt, parts = claimed.attempt, claimed.attempt.parts
    given, call = attempt.given, claimed.call
    within = parts.within(given.turn, given.step, call.call_id, call.ordinal)
    with parts.watcher.watching(watched), within:
        context = replace(
            context_of(attempt, claimed.state, call.call_id, call.ordinal),
            answers=partial(answers_of, attempt, call.call_id, call.ordinal),
            approved=call.approved,
        )
        return await supervise(parts.tools.run(claimed.tool, claimed.asked, context), attempt.stop, None)


async def _still_ours(attempt: Attempt, call: CallOperation, begun_s: float) -> bool:
    """Whether the claim is known to be ours: committed moments ago, or looked up again if not."""
    fresh_s = attempt.parts.settings.claim_fresh_s
    while call.effect == "once" and time.monotonic() - begun_s >= fresh_s:
        begun_s = time.monotonic()
        outcome = await attempt.look()
        now = call_of(outcome, attempt.given)
        if now is None or now.claim is None or now.claim.nonce != attempt.nonce:
            return False
    return True


def _testimony(claimed: Claimed, ended: Ended[ToolOutcome]) -> FinishTool:
    attempt, call, value = claimed.attempt, claimed.call, ended.value
    if value is None:
        outcome, text = _without_result(call, ended)
        unsure = call.effect == "once" or isinstance(ended.error, ToolAbandoned)
        return _finish(attempt, call, outcome, text, unsure=unsure and call.effect != "read")
    return FinishTool(
        **_base(attempt, call),
        outcome=value.result.outcome if value.asks is None and value.opens is None else "deferred",
        output=value.result.output,
        duration_ms=value.duration_ms,
        effect_unknown=value.effect_unknown,
        blobs=value.blobs,
        ops=value.ops,
        asks=value.asks,
        spawns=None if value.opens is None else _spawn(claimed, value.opens),
    )


def _spawn(claimed: Claimed, opened: Opened) -> Spawn:
    """The turn that is opened; calls of the same step that open one too share what is left of the budget."""
    attempt, call_id = claimed.attempt, claimed.call.call_id
    key, turn = attempt.key, attempt.given.turn
    agent = attempt.parts.registry.get(key.agent)
    tools = () if agent is None else [subagent.tool.name for subagent in agent.subagents]
    step = next((m.calls for m in reversed(claimed.state.context) if call_id in [c.id for c in m.calls]), ())
    return Spawn(
        place=child_place(key, turn, call_id, opened.agent),
        task=opened.task,
        detached=opened.detached,
        budget=opened.budget,
        siblings=tuple(call.id for call in step if call.name in tools),
    )


def _without_result(call: CallOperation, ended: Ended[ToolOutcome]) -> tuple[Outcome, str]:
    """The outcome of an attempt without a result."""
    match ended.stopped:
        case "drained":
            return "drained", ""
        case "cancelled":
            return ("unknown" if call.effect == "once" else "interrupted"), ""
        case None:
            log.error("tool_call_broke", exc_info=ended.error)
            return "error", f"The call broke inside the worker: {type(ended.error).__name__}."


def _finish(
    attempt: Attempt, call: CallOperation, outcome: Outcome, text: str = "", *, unsure: bool = False
) -> FinishTool:
    output = (Text(text=text),) if text else ()
    return FinishTool(**_base(attempt, call), outcome=outcome, output=output, effect_unknown=unsure)


def _base(attempt: Attempt, call: CallOperation) -> dict[str, Any]:
    return {**attempt.named, "ordinal": call.ordinal, "call_id": call.call_id, "name": call.name}
