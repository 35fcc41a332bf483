"""The calls of one session: those somebody waits for, and those given up that the server may still carry out.

Rule: a question is put to the call it comes from, or to nobody. Over HTTP it comes in the answer to its call. Elsewhere
it names none: then it is that of the only call the server has, and one that was given up and never answered is still
one it has, for it may ask late. Where that cannot be told any more the session is left, so the next one can ask.
A server that does not list its tools in time may be busy with a call: its session is left when the calls of that
moment are over and it has said nothing at all meanwhile. Whoever leaves a session ends no call in it.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Final, Protocol

import structlog
from mcp.shared.message import SessionMessage
from mcp_types import (
    CONNECTION_CLOSED,
    ElicitRequestParams,
    ElicitResult,
    JSONRPCError,
    JSONRPCRequest,
    JSONRPCResponse,
)

from turnwright.activities.mcp.asking import CANCELLED
from turnwright.activities.mcp.fate import Fate

UNANSWERED_MAX: Final = 1_000

log = structlog.get_logger(__name__)


class Hearing(Protocol):
    """A call that hears what its server wants to know."""

    @property
    def key(self) -> str:
        """What it is known by, the same for all of its attempts."""
        ...

    async def elicited(self, params: ElicitRequestParams) -> ElicitResult:
        """The answer, as far as there is one."""
        ...


# The SDK carries the context of a request sent by HTTP to whatever comes in the answer to it.
_CALL: ContextVar[Hearing | None] = ContextVar("turnwright_mcp_call", default=None)


class UnderWay:
    """The calls of one session, and whether it may go on."""

    def __init__(self, server: str, fate: Fate) -> None:
        self._server = server
        self._fate = fate
        self._calls: list[Hearing] = []
        self._unanswered: dict[str, str] = {}  # the keys of calls, by the ids of their requests
        self._unknown_more = False
        self._doubted: set[Hearing] | None = None
        self.idle = asyncio.Event()
        self.idle.set()

    @contextmanager
    def hearing(self, call: Hearing) -> Iterator[None]:
        """Let a call hear, while the block runs, what the server wants to know."""
        self._calls.append(call)
        self.idle.clear()
        token = _CALL.set(call)
        try:
            yield
        finally:
            _CALL.reset(token)
            self._ended(call)

    def sent(self, message: SessionMessage) -> None:
        """Take note of a message to the server, in the context of whoever sends it."""
        call, said = _CALL.get(), message.message
        if call is None or not isinstance(said, JSONRPCRequest):
            return
        if len(self._unanswered) < UNANSWERED_MAX:
            self._unanswered[str(said.id)] = call.key
        else:
            self._unknown_more = True

    def received(self, message: SessionMessage | Exception) -> None:
        """Take note of a message from the server."""
        said = message.message if isinstance(message, SessionMessage) else None
        if isinstance(said, JSONRPCError) and said.error.code == CONNECTION_CLOSED:
            return  # the SDK's own word about an answer that was cut off
        self._doubted = None
        if isinstance(said, JSONRPCResponse | JSONRPCError):
            self._unanswered.pop(str(said.id), None)

    def doubt(self) -> None:
        """The server did not list its tools in time."""
        self._doubted = set(self._calls)
        log.warning("mcp_list_late", server=self._server, calls_under_way=len(self._calls))
        self._judge()

    async def elicited(self, params: ElicitRequestParams) -> ElicitResult:
        """What the server is answered that asks in the middle of a call."""
        named = _CALL.get()
        call = self._only_one() if named is None else named
        if call is not None and call in self._calls:
            return await call.elicited(params)
        late = named is not None or self._has_given_up()
        reason = "a call that was given up may have asked it" if late else "it is not known which call asked it"
        log.warning("mcp_question_not_asked", server=self._server, reason=reason)
        if named is None and late:
            self._fate.leave("its questions cannot be told apart any more")
        return CANCELLED

    def _only_one(self) -> Hearing | None:
        if self._unknown_more or len(set(self._unanswered.values())) != 1:
            return None
        (key,) = set(self._unanswered.values())
        return next((call for call in reversed(self._calls) if call.key == key), None)

    def _has_given_up(self) -> bool:
        waiting = {call.key for call in self._calls}
        return self._unknown_more or not waiting.issuperset(self._unanswered.values())

    def _ended(self, call: Hearing) -> None:
        self._calls.remove(call)
        if not self._calls:
            self.idle.set()
        if self._doubted is not None:
            self._doubted.discard(call)
            self._judge()

    def _judge(self) -> None:
        if self._doubted is not None and not self._doubted:
            self._fate.leave("it does not list its tools, and said nothing since")
