"""What every request passes through: an id, bounds, headers, and a log line.

Rule: plain ASGI, so a stream goes through unbuffered. A path is matched as it was sent, percent-encoded, so that an id
with a slash in it is one part of it; the parts are decoded by who reads them.
"""

from __future__ import annotations

import re
import secrets
import time
from collections.abc import MutableMapping
from typing import Any

import structlog
from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import Request
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from turnwright.client.gateway.bodies import Bodies

REQUEST_ID = "X-Request-Id"
_GIVEN_ID = re.compile(r"[A-Za-z0-9._-]{1,100}")
SECURITY_HEADERS = {
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Content-Security-Policy": "default-src 'none'; frame-ancestors 'none'",
    "Cache-Control": "no-store",
}

log = structlog.get_logger(__name__)


class Edge:
    """The outermost layer of the gateway."""

    def __init__(self, app: ASGIApp, bodies: Bodies) -> None:
        self._app = app
        self._bodies = bodies

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        headers = Headers(scope=scope)
        request_id = _request_id(headers)
        scope.setdefault("state", {})["request_id"] = request_id
        scope["path"] = (scope.get("raw_path") or scope["path"].encode()).decode("ascii", "replace")
        answer = _Answer(send, request_id)
        with (
            structlog.contextvars.bound_contextvars(request_id=request_id),
            self._bodies.receiving(receive, headers, answer.is_started, scope["path"]) as bounded,
        ):
            try:
                await self._app(scope, bounded, answer.send)
            finally:
                answer.log(scope)


def note(request: Request, **about: str | None) -> None:
    """Have the line that is logged of the request say this, too: who asked, and for what."""
    request.state.about = {**getattr(request.state, "about", {}), **about}


class _Answer:
    """An answer on its way out: its headers are added, and what became of it is remembered."""

    def __init__(self, send: Send, request_id: str) -> None:
        self._send = send
        self._request_id = request_id
        self._status = 0
        self._began_s = time.perf_counter()

    async def send(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            self._status = message["status"]
            headers = MutableHeaders(scope=_started(message))
            headers[REQUEST_ID] = self._request_id
            for name, value in SECURITY_HEADERS.items():
                headers.setdefault(name, value)
        await self._send(message)

    def is_started(self) -> bool:
        return bool(self._status)

    def log(self, scope: Scope) -> None:
        route = scope.get("route")
        log.info(
            "request",
            method=scope["method"],
            route=getattr(route, "path", None),
            status=self._status or None,
            took_ms=round(1_000 * (time.perf_counter() - self._began_s), 1),
            **scope["state"].get("about", {}),
        )


def _started(message: Message) -> MutableMapping[str, Any]:
    message.setdefault("headers", [])
    return message


def _request_id(headers: Headers) -> str:
    """The caller's own, if it can stand in a log, else a new one."""
    given = headers.get(REQUEST_ID, "")
    return given if _GIVEN_ID.fullmatch(given) else secrets.token_hex(8)
