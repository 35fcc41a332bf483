"""An audit of children: each is opened once, waited for until it ends, and told of to the threads it concerns.

Rule: it reads entries and knows nothing of how the code folds them. What is asked of other threads is compared with it.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

from tests.unit.journal.audit_ledger import Ledger
from turnwright.journal import entries as e
from turnwright.journal.budgets import Budget
from turnwright.journal.commands import TakeIn
from turnwright.journal.entries import Entry
from turnwright.journal.posts import ChildCancel, Post

SHARED = ("tokens", "cost_microusd")


@dataclass
class Family:
    """The children of the active turn that are waited for, and those there ever were.

    `due` is what the entries since the last `settle` ask of other threads.
    """

    active: str | None = None
    open: dict[str, Budget | None] = field(default_factory=dict)
    ever: set[str] = field(default_factory=set)
    due: Counter[tuple[str, str]] = field(default_factory=Counter)

    def read(self, entry: Entry, ledger: Ledger) -> None:
        """Check an entry against those before."""
        match entry.payload:
            case e.TurnStarted():
                self.active = entry.turn_id
                assert not self.open, "an older turn's child is still waited for"
            case e.ChildSpawned() as spawned:
                self._spawned(entry, spawned, ledger)
            case e.ChildFinished(child_turn=child):
                assert entry.turn_id == self.active
                assert child in self.open, "an end was told twice, or to a turn that does not wait"
                del self.open[child]
            case e.TurnCompleted():
                assert not self.open, "the turn is complete without its child"
            case e.TurnCancelled() | e.TurnFailed() if entry.turn_id == self.active:
                self.due.update(("cancel", child) for child in self.open)
                self.open.clear()
            case _:
                pass

    def _spawned(self, entry: Entry, spawned: e.ChildSpawned, ledger: Ledger) -> None:
        assert entry.turn_id == self.active
        assert spawned.child_turn not in self.ever, "a task was given twice"
        self.ever.add(spawned.child_turn)
        self.due["open", spawned.child_turn] += 1
        if spawned.detached:
            return
        self.open[spawned.child_turn] = spawned.budget
        for name in SHARED:
            bound = getattr(ledger.of_turn, name)
            held = sum(getattr(share, name) or 0 for share in self.open.values() if share is not None)
            assert bound is None or ledger.of_this_turn[name] + held <= bound, "children may spend more than there is"

    def settle(self, posts: tuple[Post, ...]) -> None:
        """What was asked of other threads is just what was due."""
        asked = Counter((_kind(post), post.child_turn) for post in posts)
        assert asked == self.due
        self.due = Counter()


def _kind(post: Post) -> str:
    if isinstance(post.what, TakeIn):
        return "open"
    return "cancel" if isinstance(post.what, ChildCancel) else "told"
