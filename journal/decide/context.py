"""What every rule of `decide` is given."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias, TypedDict

from turnwright.journal import entry_ids
from turnwright.journal.commands import ClientCommand, Rejection
from turnwright.journal.control import SessionControl, ThreadControl
from turnwright.journal.entries import Draft, Payload
from turnwright.journal.facts import Facts
from turnwright.journal.turn_status import TurnStatus

Decision: TypeAlias = list[Draft] | Rejection
UNKNOWN_SESSION = Rejection("unknown_session", "there is no such session; create it first")


@dataclass(frozen=True, slots=True)
class Context:
    """Control, session and facts at the moment of the decision."""

    control: ThreadControl
    session: SessionControl
    facts: Facts

    def status(self, turn_id: str) -> TurnStatus | None:
        """The status of a turn: the active one's, or that of its row."""
        active = self.control.turn(turn_id)
        if active is not None:
            return active.status
        row = self.facts.turn
        return row if row is not None and row.turn_id == turn_id else None


def without_reason(command: ClientCommand, what: str) -> Rejection | None:
    """The rejection of a command that does not say why, where the records need it; `what` is to be said."""
    if (command.reason or "").strip():
        return None
    return Rejection("reason_required", f"a reason is required, for the records: {what}")


class Who(TypedDict):
    """Who asked for it, and why: what each entry of a command holds."""

    principal: str
    reason: str | None


def who_asked(command: ClientCommand) -> Who:
    """Of a command."""
    return {"principal": command.principal, "reason": command.reason}


def recorded(command: ClientCommand, payload: Payload) -> list[Draft]:
    """The decision that all there is to a command is this entry."""
    return [Draft(entry_ids.command(command.request_id, 0), payload)]
