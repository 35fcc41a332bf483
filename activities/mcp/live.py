"""One session with a server, from its handshake to its end.

Rule: it lives in a task of its own, since what it is made of must be closed by the task that opened it; a caller that
is cancelled takes nothing of it along. Whatever ends it (the server, the network, an error in its SDK) ends only it.
"""

from __future__ import annotations

import asyncio
import time
from contextlib import AbstractContextManager
from contextvars import Context
from typing import Any, Final

import anyio
import httpx2
import structlog
from mcp import Client, MCPError
from mcp.client.session import ClientRequestContext
from mcp.shared.dispatcher import ProgressFnT
from mcp_types import (
    CONNECTION_CLOSED,
    CallToolResult,
    ElicitRequestParams,
    ElicitResult,
    Implementation,
    InputRequiredResult,
    InputResponses,
    PaginatedRequestParams,
    RequestParamsMeta,
    ToolListChangedNotification,
)
from mcp_types import Tool as McpTool
from mcp_types.version import MODERN_PROTOCOL_VERSIONS

from turnwright.activities.mcp.fate import Fate
from turnwright.activities.mcp.said import Said
from turnwright.activities.mcp.server import McpServer
from turnwright.activities.mcp.transports import transport_of
from turnwright.activities.mcp.under_way import Hearing, UnderWay
from turnwright.activities.sources.port import SourceAway
from turnwright.activities.sources.terms import TOOLS_MAX
from turnwright.activities.tool_errors import bounded, without_secrets
from turnwright.activities.unwatched import seen

CLOSE_S_MAX: Final = 8.0
LIST_AGE_S_MAX: Final = 300.0
LISTEN_AGAIN_S: Final = 5.0
PAGES_MAX: Final = 50
END_SEEN_S: Final = 1.0

log = structlog.get_logger(__name__)


class Lost(Exception):
    """The session ended under a request. `sent`: the server may have taken it, and may carry it out."""

    def __init__(self, message: str, *, sent: bool) -> None:
        super().__init__(message)
        self.sent = sent


class Live:
    """A session; made by `open`."""

    def __init__(self, server: McpServer) -> None:
        self._server = server
        self._said = Said(server.name)
        self._fate = Fate()
        self._under_way = UnderWay(server.name, self._fate)
        self._closing = asyncio.Event()
        self._ready: asyncio.Future[Client] = asyncio.get_running_loop().create_future()
        self._error: BaseException | None = None
        self._listing: tuple[McpTool, ...] = ()
        self._is_fresh = False
        self._listing_now: asyncio.Task[tuple[McpTool, ...]] | None = None
        self._listed_s = 0.0
        # Of no turn: what is logged here is not about the one that happened to open it.
        self._task = asyncio.get_running_loop().create_task(self._keep(), name=f"mcp {server.name}", context=Context())

    @classmethod
    async def open(cls, server: McpServer) -> Live:
        """Connect.

        Raises:
            SourceAway: the server cannot be reached, or does not answer in time; says why.
        """
        live = cls(server)
        try:
            async with asyncio.timeout(server.connect_timeout_s):
                await asyncio.shield(live._ready)
        except TimeoutError:
            said = live.last_words
            await live.close()
            raise SourceAway(f"it did not answer within {server.connect_timeout_s:g} s{said}") from None
        except asyncio.CancelledError:
            await live.close()
            raise
        return live

    @property
    def over(self) -> bool:
        """Whether nothing more is to be asked here."""
        return self._fate.gone.is_set() or self._fate.left.is_set() or self._task.done()

    @property
    def is_idle(self) -> bool:
        """Whether no call is under way."""
        return self._under_way.idle.is_set()

    @property
    def last_words(self) -> str:
        """The last the server wrote, as the end of a sentence."""
        return f"; it last said: {self._said.last}" if self._said.last else ""

    def leave(self, why: str) -> None:
        """Begin nothing more here; it ends when the calls under way are over."""
        self._fate.leave(why)

    async def close(self) -> None:
        """End the session and the server's process, by force if need be."""
        self._closing.set()
        if not self._ready.done():
            self._task.cancel()
        listing = () if self._listing_now is None else (self._listing_now,)
        await asyncio.wait({self._task, *listing}, timeout=CLOSE_S_MAX)
        if not self._task.done():
            log.warning("mcp_session_not_closed", server=self._server.name, after_s=CLOSE_S_MAX)
            self._task.cancel()

    async def list(self) -> tuple[McpTool, ...]:
        """The server's tools; it is asked when it says that they changed, and once in a while.

        It is asked for all who want to know, and one who waits no longer leaves that alone.

        Raises:
            Lost: the session ended.
            MCPError: the server refuses.
            TimeoutError: it did not answer in time; who else has a call under way here keeps it.
        """
        if self._listing_now is None or self._listing_now.done():
            if self._is_fresh and time.monotonic() - self._listed_s <= LIST_AGE_S_MAX:
                return self._listing
            loop = asyncio.get_running_loop()
            name = f"mcp {self._server.name} list"
            self._listing_now = loop.create_task(self._list_anew(), name=name, context=Context())
            self._listing_now.add_done_callback(seen)
        return await asyncio.shield(self._listing_now)

    async def call(
        self,
        name: str,
        arguments: dict[str, Any],
        meta: RequestParamsMeta,
        on_progress: ProgressFnT,
        answers: InputResponses | None = None,
        state: str | None = None,
    ) -> CallToolResult | InputRequiredResult:
        """Have a tool called, again with `answers` and `state` if it wanted to know something. Cancelling tells it.

        Raises:
            Lost: the session ended.
            MCPError: the server refuses.
        """
        client = self._ready.result()
        try:
            return await client.session.call_tool(
                name,
                arguments,
                None,
                on_progress,
                input_responses=answers,
                request_state=state,
                meta=meta,
                allow_input_required=True,
            )
        except (MCPError, anyio.ClosedResourceError, anyio.BrokenResourceError) as error:
            raise await self._meaning(error) from error

    def hearing(self, call: Hearing) -> AbstractContextManager[None]:
        """Let a call hear, while the block runs, what the server wants to know; the session lasts as long."""
        return self._under_way.hearing(call)

    async def _elicited(self, context: ClientRequestContext, params: ElicitRequestParams) -> ElicitResult:  # noqa: ARG002 - the SDK names it
        return await self._under_way.elicited(params)

    async def _list_anew(self) -> tuple[McpTool, ...]:
        self._is_fresh = True  # until a change is heard, also one that comes before the answer
        self._listed_s = time.monotonic()
        try:
            async with asyncio.timeout(self._server.connect_timeout_s):
                self._listing = await self._list()
        except BaseException as error:
            self._is_fresh = False
            if isinstance(error, TimeoutError):
                self._under_way.doubt()
            raise
        return self._listing

    async def _list(self) -> tuple[McpTool, ...]:
        client = self._ready.result()
        tools: list[McpTool] = []
        cursor = None
        for _ in range(PAGES_MAX):
            try:
                page = await client.session.list_tools(params=PaginatedRequestParams(cursor=cursor))
            except (MCPError, anyio.ClosedResourceError, anyio.BrokenResourceError) as error:
                raise await self._meaning(error) from error
            tools += page.tools
            cursor = page.next_cursor
            if cursor is None or len(tools) > TOOLS_MAX:
                break
        return tuple(tools)

    async def _meaning(self, error: Exception) -> Exception:
        """The error itself, or that the session is lost; what the server refused to know was not carried out.

        A connection that was closed tells nothing of that, even if the server refused another request of the session.
        """
        if isinstance(error, MCPError) and error.code != CONNECTION_CLOSED:
            if self._fate.forgotten:
                return Lost("the server does not know the session any more", sent=False)
            return error
        await asyncio.wait({self._task}, timeout=END_SEEN_S)
        unreached = isinstance(self._error, httpx2.ConnectError | httpx2.ConnectTimeout)
        return Lost(f"the connection was lost{self._why()}{self.last_words}", sent=not unreached)

    def _why(self) -> str:
        return "" if self._error is None else f" ({_words(self._error)})"

    async def _keep(self) -> None:
        try:
            transport = transport_of(self._server, self._said, self._fate, self._under_way)
            made = Client(
                transport,
                cache=None,
                message_handler=self._heard,
                elicitation_callback=self._elicited,
                client_info=Implementation(name="turnwright", version="1"),
            )
            async with made as client:
                self._ready.set_result(client)
                log.info("mcp_connected", server=self._server.name, protocol=client.protocol_version)
                await self._until_over(client)
        except Exception as error:  # noqa: BLE001 - whatever ends a session ends only that
            self._error = _root(error)
        finally:
            self._fate.gone.set()
            self._end()

    def _end(self) -> None:
        why = f"{self._why()}{self.last_words}"
        if not self._ready.done():
            error = self._error
            said = str(error) if isinstance(error, SourceAway) else f"it could not be connected to{why}"
            self._ready.set_exception(SourceAway(said))
            self._ready.exception()  # seen, also if whoever waited has gone
        elif self._fate.left.is_set():
            log.info("mcp_session_left", server=self._server.name, reason=self._fate.why, then="opened when needed")
        elif not self._closing.is_set():
            log.warning("mcp_session_ended", server=self._server.name, why=why.lstrip(" ;"), then="opened when needed")

    async def _until_over(self, client: Client) -> None:
        listening = asyncio.create_task(self._listen(client))
        ends = [asyncio.create_task(event.wait()) for event in (self._closing, self._fate.gone)]
        left = asyncio.create_task(self._left_by_all())
        try:
            await asyncio.wait((left, *ends), return_when=asyncio.FIRST_COMPLETED)
        finally:
            for task in (listening, left, *ends):
                task.cancel()
            await asyncio.wait((listening, left, *ends), timeout=END_SEEN_S)

    async def _left_by_all(self) -> None:
        await self._fate.left.wait()
        await self._under_way.idle.wait()

    async def _listen(self, client: Client) -> None:
        """Hear of changed lists where the server has to be asked to tell."""
        tools = client.server_capabilities.tools
        if client.protocol_version not in MODERN_PROTOCOL_VERSIONS or tools is None or not tools.list_changed:
            return
        while True:
            try:
                async with client.listen(tools_list_changed=True) as changes:
                    self._is_fresh = False  # it may have changed before this was heard
                    async for _ in changes:
                        self._is_fresh = False
            except Exception as error:  # noqa: BLE001 - then the list is asked for now and then
                log.info("mcp_changes_not_heard", server=self._server.name, error=_words(_root(error)))
            await asyncio.sleep(LISTEN_AGAIN_S)

    async def _heard(self, message: object) -> None:
        if isinstance(message, ToolListChangedNotification):
            self._is_fresh = False


def _root(error: BaseException) -> BaseException:
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return error


def _words(error: BaseException) -> str:
    return bounded(without_secrets(f"{type(error).__name__}: {error}"), 500)
