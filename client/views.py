"""What `status()` of a turn gives: its row, the word shown for it, and what it is asked."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from turnwright.journal.acts import Act, Level
from turnwright.journal.control import OpenInteraction
from turnwright.journal.ids import ThreadKey
from turnwright.journal.shown import ShownStatus, shown_status
from turnwright.journal.turn_status import Pause, Phase, TurnStatus
from turnwright.journal.why import Scene


@dataclass(frozen=True, slots=True)
class TurnView:
    """A turn at one moment.

    `status` is the one word for people; `phase`, `pause` and `revision` are what commands go by. `ahead` counts
    the turns before it in its queue. `held_by` says who paused it, its thread or its session, when and why, and
    `cancelled_by` who cancelled it. `children` are the turns of subagents whose end it waits for: 20, and with theirs
    50; of more the first and nearest, those that ask before others. `children_unseen` counts those of its own that are
    left out. Times are microseconds since 1970 UTC by the store's clock.
    """

    key: ThreadKey
    status: ShownStatus
    row: TurnStatus
    ahead: int = 0
    questions: tuple[OpenInteraction, ...] = ()
    held_by: Mapping[Level, Act] = field(default_factory=dict)
    cancelled_by: Act | None = None
    children: tuple[TurnView, ...] = ()
    children_unseen: int = 0

    @property
    def turn_id(self) -> str:
        """The turn's id."""
        return self.row.turn_id

    @property
    def asked(self) -> tuple[OpenInteraction, ...]:
        """What it asks, and then what its children ask; any of it can be answered at this turn."""
        return self.questions + tuple(question for child in self.children for question in child.asked)

    @property
    def phase(self) -> Phase:
        """Where the turn is in its life."""
        return self.row.phase

    @property
    def pause(self) -> Pause:
        """The turn's own pause flag."""
        return self.row.pause

    @property
    def revision(self) -> int:
        """Rises with each change of phase or pause."""
        return self.row.revision

    @property
    def finished(self) -> bool:
        """Whether the turn has ended (a failed one may still be retried)."""
        return self.row.finished

    @property
    def code(self) -> str | None:
        """Why it failed or was cancelled."""
        return self.row.code

    @property
    def message(self) -> str | None:
        """The same for people."""
        return self.row.message


def view_of(scene: Scene) -> TurnView:
    """What a person is shown of a turn."""
    active = scene.control.turn(scene.status.turn_id)
    questions = () if active is None else active.interactions
    shown = shown_status(scene.control, scene.session, scene.status)
    children = tuple(view_of(child) for child in scene.children)
    return TurnView(
        scene.key, shown, scene.status, scene.ahead, questions, scene.held_by, scene.cancelled_by, children,
        scene.children_unseen,
    )  # fmt: skip
