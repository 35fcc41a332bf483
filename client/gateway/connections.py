"""Connections that end: HTTP/1.1 as uvicorn speaks it, and nothing that a client owes is waited for without end.

Rule: a client may owe the head of a request, the rest of a body that nobody reads any more, or room for what was sent
to it. Who owes it for too long is cut off, however much else it sends meanwhile; when there are as many connections as
there may be, the one that has said nothing for longest makes room. A body that is wanted has its deadline where it is
read, and a stream where it is written. What is no request, or finds no room, is answered with a problem, as all others.
"""

from __future__ import annotations

import asyncio
import resource
import secrets
import socket
from collections.abc import Mapping
from dataclasses import replace
from enum import Enum, auto
from typing import Any, ClassVar

import h11
import structlog
from starlette.types import ASGIApp, Receive, Scope, Send
from uvicorn.protocols.http.h11_impl import H11Protocol

from turnwright.client.gateway.problems import Full, Problem, answer_of, problem_of
from turnwright.client.gateway.settings import GatewaySettings

LOOK_S = 0.5
HURRY_S = 0.5
CROWDED = "crowded"
CLOSE: Mapping[str, str] = {"Connection": "close"}
CONNECTIONS_MAX = 2_000
OTHER_FILES = 200

log = structlog.get_logger(__name__)


class Owed(Enum):
    """What a client has to do before anything else can happen on its connection."""

    HEAD = auto()
    REST = auto()
    ROOM = auto()


class Connection(H11Protocol):
    """One connection, looked at now and then."""

    patience_s: Mapping[Owed, float]
    connections_max: ClassVar[int]

    def __init__(self, *args: Any, **kwargs: Any) -> None:  # noqa: ANN401 - uvicorn's own
        super().__init__(*args, **kwargs)
        self._seen: tuple[Owed | None, object, int] = (None, None, 0)
        self._since_s = self.loop.time()
        self._looking: asyncio.TimerHandle | None = None
        self._serve = self.app
        self.app = self._ask

    async def _ask(self, scope: Scope, receive: Receive, send: Send) -> None:
        if max(len(self.connections), len(self.tasks)) > self.connections_max:
            scope["state"][CROWDED] = True
        await self._serve(scope, receive, send)

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override] # as uvicorn's
        """Begin to look."""
        super().connection_made(transport)
        # asyncio does this only for a socket that names its protocol, which one of `socket.create_server` does not.
        transport.get_extra_info("socket").setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        if len(self.connections) > self.connections_max:
            self._make_room()
        self._look()

    def connection_lost(self, exc: Exception | None) -> None:
        """Look no more."""
        if self._looking is not None:
            self._looking.cancel()
        super().connection_lost(exc)

    @property
    def waited_s(self) -> float:
        """For how long nothing has changed in what the client owes."""
        return self.loop.time() - self._since_s

    def owes(self) -> Owed | None:
        """What the client owes now."""
        if self.transport.is_closing() or self.flow.write_paused:
            return Owed.ROOM
        if self.cycle is not None and not self.cycle.response_complete:
            return None
        if self.conn.their_state is h11.SEND_BODY:
            return Owed.REST
        return Owed.HEAD if self.timeout_keep_alive_task is None else None

    @property
    def is_silent(self) -> bool:
        """Whether there is no request on it: none yet, or none since the last was answered."""
        return self.owes() is Owed.HEAD or self.timeout_keep_alive_task is not None

    def hurry(self) -> None:
        """The server leaves: who takes nothing holds it up no longer."""
        self.patience_s = {**self.patience_s, Owed.ROOM: HURRY_S}
        if self._looking is not None:
            self._looking.cancel()
        self._look()

    def _should_upgrade(self) -> bool:
        """Never: a request to speak another protocol is answered in this one, which the library would deplore."""
        return False

    def send_400_response(self, msg: str) -> None:
        """Refuse what is no request, if nothing was answered yet, and close."""
        log.info("request_unreadable")
        if self.conn.our_state in (h11.IDLE, h11.SEND_RESPONSE):
            request_id = secrets.token_hex(8)
            answer = answer_of(Problem(400, "bad_request", msg, headers=CLOSE), request_id)
            headers = [*answer.raw_headers, (b"x-request-id", request_id.encode())]
            for event in (
                h11.Response(status_code=answer.status_code, headers=headers, reason=b"Bad Request"),
                h11.Data(data=bytes(answer.body)),
                h11.EndOfMessage(),
            ):
                self.transport.write(self.conn.send(event) or b"")
        if self.cycle is not None:
            self.cycle.disconnected = True  # its body was rubbish: what it answers has nobody to go to
            self.cycle.message_event.set()
        self.transport.close()

    def _look(self) -> None:
        owes = self.owes()
        now = (owes, self.cycle, self.transport.get_write_buffer_size())
        if now != self._seen:
            self._seen, self._since_s = now, self.loop.time()
        if owes is not None and self.waited_s >= self.patience_s[owes]:
            log.info("connection_cut", owed=owes.name.lower(), waited_s=round(self.waited_s, 1))
            self.transport.abort()
        else:
            self._looking = self.loop.call_later(LOOK_S, self._look)

    def _make_room(self) -> None:
        silent = [one for one in self.connections if isinstance(one, Connection) and one.is_silent]
        longest = max(silent, key=lambda one: one.waited_s, default=self)
        if longest is not self:
            longest.transport.abort()


class Room:
    """Lets no request further whose connection is one too many."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        state = scope.get("state", {})
        if scope["type"] != "http" or not state.get(CROWDED):
            await self._app(scope, receive, send)
            return
        full = problem_of(Full("the gateway has as many connections as it can hold; come back soon"))
        problem = replace(full, headers={**full.headers, **CLOSE})
        await answer_of(problem, state.get("request_id", ""))(scope, receive, send)


def connections(settings: GatewaySettings, at_once: int) -> type[Connection]:
    """The class of connections of a gateway that may have so many at once."""
    patience_s = {
        Owed.HEAD: settings.patience_s,
        Owed.REST: settings.patience_s,
        Owed.ROOM: settings.send_timeout_s,
    }

    class Settled(Connection):
        connections_max = at_once

        def __init__(self, *args: Any, **kwargs: Any) -> None:  # noqa: ANN401 - uvicorn's own
            super().__init__(*args, **kwargs)
            self.patience_s = patience_s

    return Settled


def count_connections() -> int:
    """How many connections this process can hold at once, its limit of open files raised as far as it may be."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = CONNECTIONS_MAX + OTHER_FILES
    if soft == resource.RLIM_INFINITY or soft >= wanted:
        return CONNECTIONS_MAX
    raised = wanted if hard == resource.RLIM_INFINITY else min(wanted, hard)
    resource.setrlimit(resource.RLIMIT_NOFILE, (raised, hard))
    return max(1, raised - OTHER_FILES)
