"""Whose a line is: the parts of a thread's key, each under its own name, so that a log can be searched by them."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache

from structlog.typing import EventDict, WrappedLogger

from turnwright.journal.ids import ThreadKey

OWNERS_CACHED_MAX = 4_096


def add_owner(_logger: WrappedLogger, _method: str, event: EventDict) -> EventDict:
    """A processor of structlog: `tenant`, `user`, `agent` and `session` of a line's `thread`, unless it has its own."""
    thread = event.get("thread")
    if isinstance(thread, str):
        for name, value in _owner(thread).items():
            event.setdefault(name, value)
    return event


@lru_cache(maxsize=OWNERS_CACHED_MAX)
def _owner(thread: str) -> Mapping[str, str | None]:
    try:
        key = ThreadKey.parse(thread)
    except (ValueError, TypeError):  # a thread's own name
        return {}
    return {"tenant": key.tenant, "user": key.user, "agent": key.agent, "session": key.session}
