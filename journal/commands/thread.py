"""Commands to a thread as a whole: its queue, its pause, what its agent may do and use, its state."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal

from turnwright.journal.budgets import Budget
from turnwright.journal.commands.base import ClientCommand
from turnwright.journal.entries.session import CloseMode
from turnwright.journal.entries.thread import Note
from turnwright.journal.messages import Message, Usage
from turnwright.journal.permissions.change import PermissionChange
from turnwright.journal.state_ops import StateOp


@dataclass(frozen=True, slots=True, kw_only=True)
class Inject(ClientCommand):
    """Give the thread material; whatever runs next sees it."""

    message: Message


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportThread(ClientCommand):
    """Begin a thread with a conversation from elsewhere.

    `digest` is that of the document it was read of, and of how it was read: the rest follows from it, by the rules of
    the version that read it. `blobs` are the bytes of its files, by their SHA-256.
    """

    NOT_CONTENT: ClassVar[frozenset[str]] = ClientCommand.NOT_CONTENT | {"messages", "state", "notes", "blobs"}

    source: str
    digest: str
    messages: tuple[Message, ...] = ()
    state: dict[str, Any] = field(default_factory=dict)
    notes: tuple[Note, ...] = ()
    blobs: Mapping[str, bytes] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class PauseThread(ClientCommand):
    """Start no operation on the thread."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ResumeThread(ClientCommand):
    """Lift the thread's pause; `revision` is that of the flag."""

    revision: int


@dataclass(frozen=True, slots=True, kw_only=True)
class CancelThread(ClientCommand):
    """Cancel the active turn and everything queued."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CloseThread(ClientCommand):
    """Take no new turn; finish or cancel the queue."""

    mode: CloseMode = "finish"


@dataclass(frozen=True, slots=True, kw_only=True)
class SetPermissions(ClientCommand):
    """Change what the thread's agent may do."""

    change: PermissionChange


@dataclass(frozen=True, slots=True, kw_only=True)
class SetBudget(ClientCommand):
    """Say what the thread, or each of its `turns` to come, may use; what is left out of it is without bound."""

    scope: Literal["thread", "turns"]
    budget: Budget


@dataclass(frozen=True, slots=True, kw_only=True)
class ChangeState(ClientCommand):
    """Do one operation on tasks, plan or tool groups."""

    op: StateOp


@dataclass(frozen=True, slots=True, kw_only=True)
class UpdateState(ClientCommand):
    """Replace fields of the state, as it was read at the entry `expected_seq`."""

    expected_seq: int
    changes: dict[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class ClearContext(ClientCommand):
    """Begin the conversation anew; with `expected_seq`, only if nothing came since that entry."""

    expected_seq: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class CompactThread(ClientCommand):
    """Let something of the conversation give way before the next model call, however long it is."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ForkThread(ClientCommand):
    """Begin another thread with what this one's agent knew at an entry (None: the last); it copies nothing.

    `thread` is the name of the new one (None: one that follows from the request id), `session` the session of the same
    user that it is in (None: the same).
    """

    at_seq: int | None = None
    thread: str | None = None
    session: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class MakeWhole(ClientCommand):
    """Keep with a fork what it begins with, so that the session of its origin can be deleted."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RewindThread(ClientCommand):
    """Go on as it was at the entry `to_seq`; `expected_seq` is the thread's last entry as the caller read it."""

    to_seq: int
    expected_seq: int


@dataclass(frozen=True, slots=True, kw_only=True)
class CountUsage(ClientCommand):
    """Count what a model call took that belongs to no turn."""

    usage: Usage


@dataclass(frozen=True, slots=True, kw_only=True)
class EraseEntry(ClientCommand):
    """Erase the content of an entry for good; that it was there stays."""

    seq: int
