"""Commands to a session."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, TypeAlias

from turnwright.journal.budgets import Budget
from turnwright.journal.commands.base import ClientCommand
from turnwright.journal.commands.schedule import ScheduleCommand, TriggerSchedule
from turnwright.journal.entries.session import CloseMode, MadeOf


@dataclass(frozen=True, slots=True, kw_only=True)
class CreateSession(ClientCommand):
    """Begin a session."""

    title: str | None = None
    metadata: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class PauseSession(ClientCommand):
    """Start no operation on any thread."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ResumeSession(ClientCommand):
    """Lift the session's pause; `revision` is that of the flag."""

    revision: int


@dataclass(frozen=True, slots=True, kw_only=True)
class CancelSession(ClientCommand):
    """Cancel every turn queued before this command."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CloseSession(ClientCommand):
    """Take no new turn anywhere in the session."""

    mode: CloseMode = "finish"


@dataclass(frozen=True, slots=True, kw_only=True)
class SetSessionBudget(ClientCommand):
    """Say what all threads of the session may use together."""

    budget: Budget


@dataclass(frozen=True, slots=True, kw_only=True)
class SetTitle(ClientCommand):
    """Say what people call the session; None: nothing, and one may be made again."""

    title: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class DescribeSession(ClientCommand):
    """Keep a title and a summary that were made of a thread; a title only if the session has none.

    `log_seq`: the last entry of the session's log that its maker knew; the last summary stands there. `failed`: why a
    model that was asked brought not all that was wanted.
    """

    made_of: MadeOf
    log_seq: int
    title: str = ""
    summary: str = ""
    failed: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class DeleteSession(ClientCommand):
    """Erase the session with everything in it; only who did it and why stays.

    `make_forks_whole`: forks in other sessions that need its entries keep first what they begin with.
    """

    make_forks_whole: bool = False


SessionOwn: TypeAlias = CreateSession | PauseSession | ResumeSession | CancelSession | CloseSession | SetSessionBudget
LoggedCommand: TypeAlias = SessionOwn | SetTitle | DescribeSession | ScheduleCommand


SessionCommand: TypeAlias = LoggedCommand | DeleteSession | TriggerSchedule
