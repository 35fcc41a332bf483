"""The route that gives a whole session as a file.

Rule: it is sent as it is read, and only its last line says that all of it came. Who takes nothing is let go.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from functools import partial

from fastapi.responses import StreamingResponse
from starlette.datastructures import Headers
from starlette.types import Message, Receive, Scope, Send

from turnwright.client.gateway.caller import Caller
from turnwright.client.gateway.desk import AskedSession, AtDesk, Desk, WhoAsks, guarded_router
from turnwright.client.session import Session

router = guarded_router("sessions")


class Exported(StreamingResponse):
    """Lines of JSON that count as one of their caller's streams from their beginning to their end."""

    media_type = "application/x-ndjson"

    def __init__(self, desk: Desk, caller: Caller, lines: AsyncIterator[bytes], status_code: int = 200) -> None:
        desk.limits.check_stream(caller)
        super().__init__(lines, status_code, headers={"Content-Disposition": "attachment"})
        self._desk = desk
        self._caller = caller

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send it; cut short it has no last line, and the connection breaks."""

        async def timely(message: Message) -> None:
            async with asyncio.timeout(self._desk.settings.send_timeout_s):
                await send(message)

        with self._desk.limits.stream(self._caller):
            authorization = Headers(scope=scope).get("Authorization")
            ended = partial(self._desk.standing.until_ended, self._caller, authorization)
            await self._desk.leaving.cut_short(super().__call__(scope, receive, timely), ended)


@router.get("/sessions/{session}/export", response_class=Exported)
async def export_session(caller: WhoAsks, desk: AtDesk, key: AskedSession) -> Exported:
    """The session as a file of JSON lines, with all that is in it; `turnwright import` reads it."""
    lines = Session(desk.access(caller), key).export()
    begun = await anext(lines)  # what is refused is refused before anything is sent
    return Exported(desk, caller, _behind(begun, lines))


async def _behind(begun: bytes, lines: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
    yield begun
    async for line in lines:
        yield line
