"""Carries out one tool call: checks the arguments, runs the body in its time, keeps what it returned.

Rule: whatever a tool does, the turn gets a result. Bad arguments, exceptions, timeouts and outputs that
cannot be kept are `error` results which tell the model what went wrong; only a cancel leaves without one.
"""

from __future__ import annotations

import asyncio
import functools
import time
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Final, get_args

import structlog
from pydantic import ValidationError

from turnwright.activities.reconcile import Reconciled, ReconcileStatus
from turnwright.activities.subagents import Opened
from turnwright.activities.tool_body import Body, Ended, answer_of
from turnwright.activities.tool_context import ToolContext
from turnwright.activities.tool_errors import OutcomeUnknown, bounded, malformed, told, traced, unfit
from turnwright.activities.tool_output import OUTPUT_BYTES_MAX, Converted, OutputRefused, converted
from turnwright.activities.tool_results import Approval, Changed, External, Question, asked, asked_whether, checked_ops
from turnwright.activities.tools import Tool
from turnwright.journal.commands import Ask
from turnwright.journal.messages import Media, Outcome, Text, ToolCall, ToolResult
from turnwright.journal.state_ops import ToolOp

CANCEL_GRACE_S: Final = 10.0

log = structlog.get_logger(__name__)


class ToolAbandoned(asyncio.CancelledError):
    """The call was cancelled and its body still runs: nobody knows what it will yet do."""


@dataclass(frozen=True, slots=True)
class ToolOutcome:
    """What became of a call. `effect_unknown`: it was given up while its body still ran.

    `blobs` holds the bytes of the result's media, to be stored with the entry. `ops` change the thread's state
    with it. With `asks` or `opens` there is no result yet: the answer to that question, or the end of that turn,
    becomes it.
    """

    result: ToolResult
    duration_ms: int
    effect_unknown: bool = False
    blobs: Mapping[str, bytes] = field(default_factory=dict)
    ops: tuple[ToolOp, ...] = ()
    asks: Ask | None = None
    opens: Opened | None = None


@dataclass(frozen=True, slots=True)
class Reconciliation:
    """What a hook found out about a call of unknown outcome."""

    status: ReconcileStatus
    output: tuple[Text | Media, ...] = ()
    blobs: Mapping[str, bytes] = field(default_factory=dict)


class ToolHost:
    """Runs the bodies of tools within their bounds."""

    def __init__(self, *, output_bytes_max: int = OUTPUT_BYTES_MAX, cancel_grace_s: float = CANCEL_GRACE_S) -> None:
        self._output_bytes_max = output_bytes_max
        self._cancel_grace_s = cancel_grace_s

    async def run(self, tool: Tool[..., Any], call: ToolCall, ctx: ToolContext) -> ToolOutcome:
        """Carry out the call.

        A cancel is passed on: an async body is cancelled, a sync one sees `ctx.cancel_requested`. If it
        ends with a result within the grace, that result is returned after all.

        Raises:
            asyncio.CancelledError: the body let itself be cancelled.
            ToolAbandoned: it did not, and still runs.
        """
        started = time.monotonic()
        try:
            arguments = _arguments(tool, call)
        except _NotMade as error:
            return _outcome(call, started, "error", Converted((Text(text=str(error)),)))
        return await self._carried_out(tool, call, Body(tool, ctx, arguments), started)

    async def _carried_out(self, tool: Tool[..., Any], call: ToolCall, body: Body, started: float) -> ToolOutcome:
        timeout_s = tool.spec.timeout_s
        try:
            ended = await body.wait(timeout_s)
            if ended is not None:
                return self._ended(tool, call, started, ended)
            still_runs = await body.stop(self._cancel_grace_s) is None
        except asyncio.CancelledError:
            return self._ended(tool, call, started, await self._stopped(call, body))
        log.warning("tool_timed_out", tool=call.name, call_id=call.id, timeout_s=timeout_s, still_runs=still_runs)
        said = f"Timed out: {call.name} did not finish within {timeout_s:g} s. It may have taken effect in part."
        return _outcome(call, started, "error", Converted((Text(text=said),)), effect_unknown=still_runs)

    async def _stopped(self, call: ToolCall, body: Body) -> Ended:
        ended = await body.stop(self._cancel_grace_s)
        if ended is None:
            log.warning("tool_ignored_cancel", tool=call.name, call_id=call.id, grace_s=self._cancel_grace_s)
            raise ToolAbandoned(f"{call.name} still runs {self._cancel_grace_s:g} s after it was cancelled")
        if body.gave_in:
            raise asyncio.CancelledError
        # The result is taken in place of the cancel, so the task counts as not cancelled any more.
        task = asyncio.current_task()
        if task is not None:
            task.uncancel()
        return ended

    def _ended(self, tool: Tool[..., Any], call: ToolCall, started: float, ended: Ended) -> ToolOutcome:
        if isinstance(ended.error, OutcomeUnknown):
            log.warning("tool_outcome_unknown", tool=call.name, call_id=call.id, reason=told(ended.error))
            said = Converted((Text(text=told(ended.error)),))
            return _outcome(call, started, "unknown", said, effect_unknown=True)
        if ended.error is not None:
            log.warning("tool_failed", tool=call.name, call_id=call.id, traceback=traced(ended.error))
            return _outcome(call, started, "error", Converted((Text(text=told(ended.error)),)))
        try:
            return self._returned(tool, call, started, ended.value)
        except OutputRefused as error:
            log.warning("tool_output_refused", tool=call.name, call_id=call.id, reason=str(error))
            return _outcome(call, started, "error", Converted((Text(text=str(error)),)))

    def _returned(self, tool: Tool[..., Any], call: ToolCall, started: float, value: object) -> ToolOutcome:
        match value:
            case Approval():
                asks = asked_whether(value, tool.spec, call.arguments)
                return replace(_outcome(call, started, "success", Converted()), asks=asks)
            case Question() | External():
                return replace(_outcome(call, started, "success", Converted()), asks=asked(value))
            case Opened():
                return replace(_outcome(call, started, "success", Converted()), opens=value)
            case Changed():
                return replace(self._output(call, started, value.says), ops=checked_ops(value))
            case _:
                return self._output(call, started, value)

    def _output(self, call: ToolCall, started: float, value: object) -> ToolOutcome:
        return _outcome(call, started, "success", converted(value, self._output_bytes_max))

    async def reconcile(self, tool: Tool[..., Any], call: ToolCall, ctx: ToolContext) -> Reconciliation:
        """Ask the tool's hook what became of a call; whatever goes wrong there is `unknown`."""
        if tool.reconcile is None:
            return Reconciliation("unknown")
        hook = functools.partial(tool.reconcile, ctx, call.arguments)
        timeout_s = tool.spec.timeout_s
        ended = await answer_of(hook, timeout_s, f"reconcile {call.name} {call.id}")
        if ended is None:
            log.warning("reconcile_timed_out", tool=call.name, call_id=call.id, timeout_s=timeout_s)
            return Reconciliation("unknown")
        if ended.error is not None:
            log.warning("reconcile_failed", tool=call.name, call_id=call.id, traceback=traced(ended.error))
            return Reconciliation("unknown", (Text(text=told(ended.error)),))
        return self._found(call, ended.value)

    def _found(self, call: ToolCall, found: object) -> Reconciliation:
        if not isinstance(found, Reconciled) or found.status not in get_args(ReconcileStatus):
            log.warning("reconcile_wrong_answer", tool=call.name, call_id=call.id, answer=type(found).__name__)
            return Reconciliation("unknown")
        if found.status != "succeeded":
            return Reconciliation(found.status, (Text(text=bounded(str(found.message))),) if found.message else ())
        try:
            output = converted(found.output, self._output_bytes_max)
        except OutputRefused as error:
            output = Converted((Text(text=str(error)),))
        return Reconciliation("succeeded", output.blocks, output.blobs)


class _NotMade(Exception):
    """The arguments do not allow the call."""


def _arguments(tool: Tool[..., Any], call: ToolCall) -> dict[str, Any]:
    if call.malformed is not None:
        raise _NotMade(malformed(call))
    try:
        return tool.signature.validated(call.arguments)
    except ValidationError as error:
        raise _NotMade(unfit(call.name, error)) from None
    except Exception as error:
        # A validator of the tool's own types may raise anything.
        raise _NotMade(told(error)) from error


def _outcome(
    call: ToolCall, started: float, outcome: Outcome, output: Converted, *, effect_unknown: bool = False
) -> ToolOutcome:
    duration_ms = round((time.monotonic() - started) * 1000)
    result = ToolResult(id=call.id, name=call.name, output=output.blocks, outcome=outcome)
    return ToolOutcome(result, duration_ms, effect_unknown, output.blobs)
