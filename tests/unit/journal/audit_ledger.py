"""A ledger of what a thread used, kept from its entries alone, and whether a budget still let an operation start.

Rule: it adds up what stands in the entries, one by one, and knows nothing of how the code counts.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from turnwright.journal import entries as e
from turnwright.journal.budgets import Budget, Used
from turnwright.journal.control import SessionControl
from turnwright.journal.entries import Entry

BEFORE_TOOLS = ("tool_calls", "wall_us")
BEFORE_MODELS = ("tokens", "cost_microusd", "wall_us")
NOBODY = Budget()
Amounts = dict[str, int]


def nothing() -> Amounts:
    return dict.fromkeys(Used.model_fields, 0)


@dataclass
class Ledger:
    """What the thread and its active turn used. `elsewhere`: what the session's other threads took."""

    thread: Amounts = field(default_factory=nothing)
    turn: Amounts = field(default_factory=nothing)
    active: str | None = None
    own: dict[str, Budget | None] = field(default_factory=dict)
    raised: Budget | None = None
    turns: Budget = NOBODY
    whole: Budget = NOBODY
    busy_since_us: int | None = None
    elsewhere: Used = field(default_factory=Used)
    children: Amounts = field(default_factory=nothing)

    def read(self, entry: Entry, session: SessionControl) -> None:
        """Check that a budget lets an operation start, and count the entry."""
        payload = entry.payload
        match payload:
            case e.ToolStarted():
                self._check(BEFORE_TOOLS, session)
                self._count(entry, tool_calls=1)
            case e.ModelRequested(ordinal=ordinal):
                self._check((*BEFORE_MODELS, "steps") if ordinal == 1 else BEFORE_MODELS, session)
                self._count(entry, steps=int(ordinal == 1))
            case (
                e.ModelResponded()
                | e.ModelFailed()
                | e.ModelInterrupted()
                | e.ModelLate()
                | e.ContextCompacted()
                | e.ContextCompactionFailed()
            ):
                tokens = payload.usage.input_tokens + payload.usage.output_tokens
                self._count(entry, tokens=tokens, cost_microusd=payload.usage.cost_microusd)
            case e.TurnQueued(budget=budget):
                self.own[entry.turn_id or ""] = budget
            case e.TurnStarted():
                self.active, self.turn, self.raised = entry.turn_id, nothing(), None
                self.children = nothing()
            case e.ChildFinished(used=used):
                self.children = {name: self.children[name] + amount for name, amount in used.model_dump().items()}
            case e.BudgetChanged():
                self._bounded(payload)
            case _:
                pass

    def timed(self, entry: Entry, *, busy: bool) -> None:
        """Count the time that passed while an operation ran; whether one runs after the entry is `busy`."""
        if busy and self.busy_since_us is None:
            self.busy_since_us = entry.at_us
        if not busy and self.busy_since_us is not None:
            self._count(entry, wall_us=entry.at_us - self.busy_since_us)
            self.busy_since_us = None

    def _count(self, entry: Entry, **amounts: int) -> None:
        for name, amount in amounts.items():
            self.thread[name] += amount
            if entry.turn_id == self.active:
                self.turn[name] += amount

    def _bounded(self, payload: e.BudgetChanged) -> None:
        match payload.scope:
            case "turn":
                self.raised = payload.budget
            case "turns":
                self.turns = payload.budget
            case "thread":
                self.whole = payload.budget

    @property
    def together(self) -> Amounts:
        """What the session's threads took, all of them."""
        return {name: self.thread[name] + amount for name, amount in self.elsewhere.model_dump().items()}

    @property
    def of_this_turn(self) -> Amounts:
        """What the active turn used, with its children that have ended."""
        return {name: self.turn[name] + amount for name, amount in self.children.items()}

    @property
    def of_turn(self) -> Budget:
        """The budget that holds for the active turn."""
        return self.raised or self.own.get(self.active or "") or self.turns

    def _check(self, names: tuple[str, ...], session: SessionControl) -> None:
        together = (self.together, session.budget or NOBODY)
        for used, budget in ((self.of_this_turn, self.of_turn), (self.thread, self.whole), together):
            over = used_up(budget, used, names)
            assert not over, f"an operation started though {over} is used up"


def used_up(budget: Budget, used: Amounts, names: tuple[str, ...]) -> list[str]:
    """Which of these amounts have reached their bound."""
    bounds = {name: _bound(budget, name) for name in names}
    return [name for name, bound in bounds.items() if bound is not None and used[name] >= bound]


def _bound(budget: Budget, name: str) -> float | None:
    if name == "wall_us":
        return None if budget.wall_time_s is None else budget.wall_time_s * 1_000_000
    bound: float | None = getattr(budget, name)
    return bound
