"""What breaks here is answered like everything else.

Rule: it is answered inside of the layers that add headers, so that a page of a named origin can read it too.
"""

from __future__ import annotations

import structlog
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from turnwright.client.gateway.problems import answer_of, problem_of
from turnwright.journal.errors import StoreUnavailable

log = structlog.get_logger(__name__)


class Failing:
    """The layer in which an error that nobody expected becomes an answer."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        started = False

        async def sent(message: Message) -> None:
            nonlocal started
            started = started or message["type"] == "http.response.start"
            await send(message)

        try:
            await self._app(scope, receive, sent)
        except Exception as error:
            if started:
                _say_broken(error)
                return
            log.exception("request_failed", path=scope["path"])
            await answer_of(problem_of(error), scope["state"]["request_id"])(scope, receive, send)


def _say_broken(error: Exception) -> None:
    """An answer that was begun has no other end than that its connection closes."""
    cause = error
    while isinstance(cause, ExceptionGroup) and len(cause.exceptions) == 1:
        cause = cause.exceptions[0]
    if isinstance(cause, StoreUnavailable):
        log.warning("answer_broken", why=str(cause))
    else:
        log.error("answer_broken", exc_info=error)
