"""The one word a person is shown for a turn: derived, never stored.

Rule: the first that applies: how it ended; `cancelling`; `pausing` while any pause flag is set and an operation of
the turn runs; `paused` while any is set; else its phase.
"""

from __future__ import annotations

from typing import Literal

from turnwright.journal.control import SessionControl, ThreadControl
from turnwright.journal.turn_status import FINISHED, Phase, TurnStatus

ShownStatus = Literal[
    "queued", "running", "waiting", "pausing", "paused", "cancelling", "completed", "failed", "cancelled"
]  # fmt: skip
SHOWN: tuple[ShownStatus, ...] = (
    "queued", "running", "waiting", "pausing", "paused", "cancelling", "completed", "failed", "cancelled",
)  # fmt: skip
PHASES: tuple[Phase, ...] = ("queued", "running", "waiting", "cancelling", "completed", "failed", "cancelled")


def shown_status(control: ThreadControl, session: SessionControl, status: TurnStatus) -> ShownStatus:
    """What a turn is shown as.

    Args:
        control: its thread's.
        session: its session's.
        status: the turn's row.
    """
    if status.phase in FINISHED or status.phase == "cancelling":
        return status.phase
    if not (status.held or control.pause.on or session.pause.on):
        return status.phase
    active = control.turn(status.turn_id)
    return "pausing" if active is not None and active.busy else "paused"


def phases_shown_as(shown: ShownStatus) -> tuple[Phase, ...]:
    """The phases a turn may be in when it is shown so."""
    match shown:
        case "pausing" | "paused":
            return ("queued", "running", "waiting")
        case _:
            return (shown,)
