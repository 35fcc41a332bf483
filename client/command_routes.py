"""Where each command stands in the HTTP API, and what its body is: the gateway and its client both go by this table.

Rule: a command's body holds its fields, but for those that come from elsewhere: the request id from `Idempotency-Key`,
the principal from the credential, the turn from the path.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import MISSING, Field, dataclass, fields
from typing import Any, Literal, get_type_hints

from pydantic import BaseModel, ConfigDict, create_model

from turnwright.client.on_the_wire import to_path
from turnwright.journal import commands as cmd
from turnwright.journal.budgets import Budget, BudgetChange
from turnwright.journal.commands import ClientCommand
from turnwright.journal.ids import SessionKey, ThreadKey
from turnwright.journal.messages import Message

PREFIX = "/v1"
Of = Literal["session", "thread", "turn"]
PATHS: Mapping[Of, str] = {
    "session": "/sessions/{session}",
    "thread": "/sessions/{session}/threads/{agent}/{thread}",
    "turn": "/turns/{turn}",
}
_TAKEN: Mapping[Any, Any] = {Message: str | Message, Budget: BudgetChange | Budget}
_FROM_ELSEWHERE = frozenset({"request_id", "principal", "turn_id"})


@dataclass(frozen=True, slots=True)
class CommandRoute:
    """A command of a session, a thread or a turn; `name` is the last part of its path."""

    of: Of
    name: str
    command: type[ClientCommand]
    method: Literal["POST", "PUT"] = "POST"

    @property
    def path(self) -> str:
        """The path with its parameters in braces."""
        return PATHS[self.of] + (f"/{self.name}" if self.name else "")

    def make_body(self) -> type[BaseModel]:
        """What its body must be, as a model that is made anew."""
        return _body_of(self.command)


ROUTES: tuple[CommandRoute, ...] = (
    CommandRoute("session", "", cmd.CreateSession, "PUT"),
    CommandRoute("session", "pause", cmd.PauseSession),
    CommandRoute("session", "resume", cmd.ResumeSession),
    CommandRoute("session", "cancel", cmd.CancelSession),
    CommandRoute("session", "close", cmd.CloseSession),
    CommandRoute("session", "budget", cmd.SetSessionBudget),
    CommandRoute("session", "title", cmd.SetTitle),
    CommandRoute("session", "erase", cmd.EraseEntry),
    CommandRoute("session", "create-schedule", cmd.CreateSchedule),
    CommandRoute("session", "pause-schedule", cmd.PauseSchedule),
    CommandRoute("session", "resume-schedule", cmd.ResumeSchedule),
    CommandRoute("session", "trigger-schedule", cmd.TriggerSchedule),
    CommandRoute("session", "delete-schedule", cmd.DeleteSchedule),
    CommandRoute("thread", "turns", cmd.Submit),
    CommandRoute("thread", "inject", cmd.Inject),
    CommandRoute("thread", "pause", cmd.PauseThread),
    CommandRoute("thread", "resume", cmd.ResumeThread),
    CommandRoute("thread", "cancel", cmd.CancelThread),
    CommandRoute("thread", "close", cmd.CloseThread),
    CommandRoute("thread", "permissions", cmd.SetPermissions),
    CommandRoute("thread", "budget", cmd.SetBudget),
    CommandRoute("thread", "change-state", cmd.ChangeState),
    CommandRoute("thread", "update-state", cmd.UpdateState),
    CommandRoute("thread", "clear-context", cmd.ClearContext),
    CommandRoute("thread", "compact", cmd.CompactThread),
    CommandRoute("thread", "fork", cmd.ForkThread),
    CommandRoute("thread", "rewind", cmd.RewindThread),
    CommandRoute("thread", "make-whole", cmd.MakeWhole),
    CommandRoute("thread", "erase", cmd.EraseEntry),
    CommandRoute("turn", "steer", cmd.Steer),
    CommandRoute("turn", "pause", cmd.PauseTurn),
    CommandRoute("turn", "resume", cmd.ResumeTurn),
    CommandRoute("turn", "cancel", cmd.CancelTurn),
    CommandRoute("turn", "retry", cmd.RetryTurn),
    CommandRoute("turn", "respond", cmd.Respond),
    CommandRoute("turn", "reconcile", cmd.Reconcile),
)
_BY_COMMAND = {(route.of, route.command): route for route in ROUTES}


def route_of(key: SessionKey | ThreadKey, command: ClientCommand) -> CommandRoute:
    """The route of a command for a session or a thread."""
    if isinstance(command, cmd.TurnCommand):
        return _BY_COMMAND["turn", type(command)]
    of: Of = "session" if isinstance(key, SessionKey) or key.is_session_log else "thread"
    return _BY_COMMAND[of, type(command)]


def path_of(template: str, key: SessionKey | ThreadKey | None = None, **named: str) -> str:
    """The path for a session, a thread or what is `named`, with every id encoded as one part."""
    parts = dict(named)
    if key is not None:
        parts["session"] = key.session
    if isinstance(key, ThreadKey):
        parts |= {"agent": key.agent, "thread": key.thread}
    return PREFIX + template.format_map({name: to_path(part) for name, part in parts.items()})


def said_in_body(command: ClientCommand) -> dict[str, Any]:
    """What of a command its body holds."""
    return {f.name: getattr(command, f.name) for f in fields(command) if f.name not in _FROM_ELSEWHERE}


def _body_of(command: type[ClientCommand]) -> type[BaseModel]:
    hints = get_type_hints(command, include_extras=True)
    held: dict[str, Any] = {
        f.name: (_TAKEN.get(hints[f.name], hints[f.name]), _default(f))
        for f in fields(command)
        if f.name not in _FROM_ELSEWHERE
    }
    return create_model(
        f"{command.__name__}Body", __config__=ConfigDict(extra="forbid"), __doc__=command.__doc__, **held
    )


def _default(of: Field[Any]) -> Any:  # noqa: ANN401 - a field's default can be anything
    if of.default is not MISSING:
        return of.default
    return ... if of.default_factory is MISSING else of.default_factory()
