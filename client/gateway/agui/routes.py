"""The endpoint: a run of an AG-UI front end is asked for, and told as server-sent events."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import aclosing

from ag_ui.core import BaseEvent, RunAgentInput
from sse_starlette import ServerSentEvent

from turnwright.client.gateway.agui.run import begin
from turnwright.client.gateway.agui.telling import tell
from turnwright.client.gateway.desk import AskedThread, AtDesk, WhoAsks, guarded_router
from turnwright.client.gateway.events import Stream

router = guarded_router("agui")


@router.post("/sessions/{session}/threads/{agent}/{thread}/agui", response_class=Stream)
async def run_agent(caller: WhoAsks, desk: AtDesk, key: AskedThread, asked: RunAgentInput) -> Stream:
    """A run as AG-UI 1.0 has it: the newest user message as a turn under the run's id, or what `resume` answers.

    The same run asked for again is the same turn, told again. The turn goes on whether somebody listens or not.
    """
    desk.limits.check_stream(caller)
    run = await begin(desk, caller, key, asked)
    return Stream(desk, caller, _framed(tell(desk.direct(caller), run)))


async def _framed(telling: AsyncGenerator[BaseEvent, None]) -> AsyncGenerator[ServerSentEvent, None]:
    async with aclosing(telling) as events:
        async for event in events:
            yield ServerSentEvent(event.model_dump_json(by_alias=True), sep="\n")
