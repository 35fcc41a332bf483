"""Entries of a session's own log."""

from __future__ import annotations

from typing import Any, ClassVar, Literal

from pydantic import Field

from turnwright.journal.budgets import Budget
from turnwright.journal.entries.base import ByPrincipal
from turnwright.journal.messages import Frozen

CloseMode = Literal["finish", "cancel"]


class MadeOf(Frozen):
    """A session's thread, up to an entry of it."""

    agent: str
    thread: str
    through_seq: int


class SessionCreated(ByPrincipal):
    """A session exists from here on."""

    TYPE: ClassVar[str] = "session.created"
    title: str | None = None
    metadata: dict[str, Any] = Field(default_factory=dict)


class SessionPaused(ByPrincipal):
    """No operation of any thread starts until the session is resumed."""

    TYPE: ClassVar[str] = "session.paused"
    revision: int


class SessionResumed(ByPrincipal):
    """The session's own pause flag is lifted."""

    TYPE: ClassVar[str] = "session.resumed"
    revision: int


class SessionCancelled(ByPrincipal):
    """Every turn queued before this entry is to be cancelled; the session stays open."""

    TYPE: ClassVar[str] = "session.cancelled"


class SessionClosed(ByPrincipal):
    """No new turn; the queues are finished or cancelled."""

    TYPE: ClassVar[str] = "session.closed"
    mode: CloseMode = "finish"


class SessionBudgetChanged(ByPrincipal):
    """What all threads of the session may use together."""

    TYPE: ClassVar[str] = "session.budget_changed"
    budget: Budget


class SessionImported(ByPrincipal):
    """Everything before it was imported, from a file of that digest; `journal` and `session`: where it was exported."""

    TYPE: ClassVar[str] = "session.imported"
    REQUIRED: ClassVar[bool] = False
    journal: str
    session: str
    digest: str


class SessionTitled(ByPrincipal):
    """What the session is called from here on; None: nothing. One that was made names what of which thread it is of."""

    TYPE: ClassVar[str] = "session.titled"
    title: str | None
    made_of: MadeOf | None = None


class SessionSummarised(ByPrincipal):
    """What the session is about, as a model says after reading the thread up to that entry."""

    TYPE: ClassVar[str] = "session.summarised"
    summary: str
    made_of: MadeOf


class SessionNotDescribed(ByPrincipal):
    """A model was asked for a title or summary of the thread up to that entry and brought none, or not both; why."""

    TYPE: ClassVar[str] = "session.not_described"
    failed: str
    made_of: MadeOf
