"""What every command is, and what becomes of one.

Rule: a client's command has a request id and a principal and is remembered.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal


@dataclass(frozen=True, slots=True, kw_only=True)
class ClientCommand:
    """Base of what callers and operators ask for. `principal` is who, as authentication knows them.

    `NOT_CONTENT` are the fields that a repeated request may have otherwise.
    """

    NOT_CONTENT: ClassVar[frozenset[str]] = frozenset({"request_id", "principal"})

    request_id: str
    principal: str = "local"
    reason: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnCommand(ClientCommand):
    """Base of commands to one turn. `DONE` is the verb people have for it: the turn is, or cannot be, so."""

    DONE: ClassVar[str]

    turn_id: str


@dataclass(frozen=True, slots=True)
class Rejection:
    """Why a command may not happen. `code` is stable; nothing was changed."""

    code: str
    reason: str


@dataclass(frozen=True, slots=True)
class Receipt:
    """What became of a command. `accepted` means committed; `revision` is that of what it was about.

    `thread`: the name of the thread that a fork made.
    """

    request_id: str
    status: Literal["accepted", "rejected", "enlisted"]
    code: str | None = None
    reason: str | None = None
    turn_id: str | None = None
    revision: int = 0
    seq: int = 0
    duplicate: bool = False
    thread: str | None = None
