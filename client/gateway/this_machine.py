"""What reaches a gateway that asks nobody who they are: programs of this machine, and no page of somebody else's.

Rule: whoever sits at this machine also has a browser that does what any web page says, and that can send to loopback.
So a request must name this machine as the one it is for, or a page would only need a name of its own that leads here;
and a request that a page sends must come from the gateway's own pages, or from an origin that was named.
"""

from __future__ import annotations

import ipaddress
from urllib.parse import urlsplit

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Receive, Scope, Send

from turnwright.client.gateway.problems import Forbidden, answer_of, problem_of

ANY = "*"
WAY = "name it in gateway_origins, or have the gateway ask for keys"


def is_loopback(host: str) -> bool:
    """Whether an address can only be reached from this machine."""
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


class ThisMachine:
    """Lets nothing further that a page of somebody else's may have sent."""

    def __init__(self, app: ASGIApp, origins: tuple[str, ...]) -> None:
        self._app = app
        self._origins = origins

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        refused = self._refused(Headers(scope=scope)) if scope["type"] == "http" else None
        if refused is None:
            await self._app(scope, receive, send)
            return
        problem = problem_of(Forbidden(refused))
        await answer_of(problem, scope.get("state", {}).get("request_id", ""))(scope, receive, send)

    def _refused(self, headers: Headers) -> str | None:
        """Why it is refused."""
        host, origin = headers.get("host", "").lower(), headers.get("origin")
        if host and not is_loopback(_name_in(host)) and host not in map(_place_in, self._origins):
            return f"a gateway that asks nobody who they are is for this machine only, and is not {host}; {WAY}"
        if origin is None or _place_in(origin) == host or origin in self._origins or ANY in self._origins:
            return None
        return f"a gateway that asks nobody who they are takes nothing from pages of {origin}; {WAY}"


def _place_in(origin: str) -> str:
    """Host and port."""
    try:
        return urlsplit(origin).netloc.lower()
    except ValueError:
        return ""


def _name_in(host: str) -> str:
    """The host without its port; an IPv6 address without its brackets."""
    try:
        return urlsplit(f"//{host}").hostname or ""
    except ValueError:
        return ""
