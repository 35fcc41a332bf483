"""Upcasters: bodies of earlier versions become bodies of the current one, on read.

Rule: stored bytes never change. `UPCASTERS[type, version]` turns a decoded body of `version` into one of
`version + 1`; they are applied one after the other until the current version is reached.

`turn.failed` version 1 of the first drafts had `error` (a text) where `code` and `message` stand now; it is
the worked example, and keeps such rows readable.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

Body = dict[str, Any]


def _failed_1_to_2(body: Body) -> Body:
    code, _, message = str(body.pop("error", "internal")).partition(": ")
    return body | {"code": code, "message": message or code}


def _opened_1_to_2(body: Body) -> Body:
    """Before there were permissions every call ran: a thread of that time goes on so until somebody says otherwise."""
    return body | {"agent": {"permissions": {"mode": "bypass"}} | body["agent"]}


def _cancelled_1_to_2(body: Body) -> Body:
    """The reason was what nobody knew of the turn's calls, no person's."""
    return body | {"effects_unknown": body.pop("reason", None)}


def _forked_1_to_2(body: Body) -> Body:
    """What the agent may do came from its definition alone, and nothing said what the origin's entry was."""
    return body | {"origin_hash": "", "permissions": body["agent"].get("permissions", {})}


UPCASTERS: Mapping[tuple[str, int], Callable[[Body], Body]] = {
    ("turn.failed", 1): _failed_1_to_2,
    ("turn.cancelled", 1): _cancelled_1_to_2,
    ("thread.opened", 1): _opened_1_to_2,
    ("thread.forked", 1): _forked_1_to_2,
}


def upcast(entry_type: str, version: int, current: int, body: Body) -> Body | None:
    """The body at the current version, or None when there is no way from `version` to it."""
    while version < current:
        step = UPCASTERS.get((entry_type, version))
        if step is None:
            return None
        body, version = step(dict(body)), version + 1
    return body if version == current else None
