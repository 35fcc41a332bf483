"""One call of a server's tool, with what the server wants to know meanwhile.

Rule: a question ends the attempt, so nothing waits here for a person. A server of today ends its answer with it, and
is given the answer with the next attempt. One of before asks in the middle of the call: it is told `cancel`, the call
is cancelled if that does not end it, and made again with the answer if that does no harm; in a `once` call it is only
told that nobody answers.
"""

from __future__ import annotations

import asyncio
from typing import Any, Final, cast

import structlog
from mcp import MCPError
from mcp_types import CallToolResult, ElicitRequestParams, ElicitResult, InputRequiredResult, RequestParamsMeta

from turnwright.activities.mcp.asking import CANCELLED, ROUNDS_MAX, Asking
from turnwright.activities.mcp.live import Live
from turnwright.activities.tool_context import ToolContext
from turnwright.activities.tool_errors import ToolError
from turnwright.activities.tool_results import Question
from turnwright.activities.unwatched import seen
from turnwright.journal.agents import ToolSpec

# The key a server may recognise a repeated call by; the prefix is ours, as the protocol asks.
IDEMPOTENCY_KEY: Final = "turnwright/idempotency_key"
STATE_ONLY_WAIT_S: Final = 0.2
# How long a call that asked may still be answered. A server has it until then, and nobody else could ask meanwhile.
ANSWER_S_MAX: Final = 2.0

log = structlog.get_logger(__name__)


class Calling:
    """A call under way."""

    def __init__(self, ctx: ToolContext, spec: ToolSpec, arguments: dict[str, Any], asking: Asking) -> None:
        self._ctx = ctx
        self._spec = spec
        self._arguments = arguments
        self._asking = asking
        self._asked: asyncio.Future[Question] = asyncio.get_running_loop().create_future()

    @property
    def key(self) -> str:
        """What the call is known by, the same for all of its attempts."""
        return self._ctx.idempotency_key

    async def made(self, live: Live) -> CallToolResult | Question:
        """Have it carried out.

        Raises:
            Lost: the session ended under it.
            MCPError: the server refuses it.
            ToolError: it wants what nobody can give it.
        """
        self._asking.begin_anew()
        with live.hearing(self):
            work = asyncio.create_task(self._rounds(live))
            ends: set[asyncio.Future[Any]] = {work, self._asked}
            try:
                await asyncio.wait(ends, return_when=asyncio.FIRST_COMPLETED)
                if not self._asked.done():
                    return await work
                await asyncio.wait({work}, timeout=ANSWER_S_MAX)
                return self._asked.result()
            finally:
                work.cancel()
                await asyncio.wait({work})
                seen(work)

    async def elicited(self, params: ElicitRequestParams) -> ElicitResult:
        """What a server of before is answered that asks in the middle of the call."""
        answer = self._asking.answer(params)
        if isinstance(answer, ElicitResult):
            return answer
        if self._spec.effect == "once":
            log.warning("mcp_question_not_asked", tool=self._spec.name, reason="the call cannot be made again")
            return CANCELLED
        if not self._asked.done():
            self._asked.set_result(answer)
        return CANCELLED

    async def _rounds(self, live: Live) -> CallToolResult | Question:
        result = self._asking.resumed or await self._round(live, None)
        for _ in range(ROUNDS_MAX):
            if isinstance(result, CallToolResult):
                return result
            answers = self._asking.answers_to(result)
            if isinstance(answers, Question):
                return answers
            if not answers:
                await asyncio.sleep(STATE_ONLY_WAIT_S)
            result = await self._again(live, result, answers)
        raise ToolError(f"The server wanted to know something more than {ROUNDS_MAX} times, and was not asked again.")

    async def _again(
        self, live: Live, wanted: InputRequiredResult, answers: dict[str, Any]
    ) -> CallToolResult | InputRequiredResult:
        try:
            return await self._round(live, wanted, answers)
        except MCPError as error:
            if self._spec.effect == "once":
                raise
            log.info("mcp_question_forgotten", tool=self._spec.name, error=error.message, then="the call begins anew")
        self._asking.begin_anew()
        return await self._round(live, None)

    async def _round(
        self, live: Live, wanted: InputRequiredResult | None, answers: dict[str, Any] | None = None
    ) -> CallToolResult | InputRequiredResult:
        meta = cast("RequestParamsMeta", {IDEMPOTENCY_KEY: self._ctx.idempotency_key})
        name = self._spec.name_there or self._spec.name
        state = None if wanted is None else wanted.request_state
        return await live.call(name, self._arguments, meta, self._noted, answers, state)

    async def _noted(self, progress: float, total: float | None, message: str | None) -> None:
        log.debug(
            "mcp_progress", tool=self._spec.name, call_id=self._ctx.call_id, done=progress, of=total, says=message
        )
