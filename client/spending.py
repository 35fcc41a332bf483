"""What `budget()` of a thread and of a session gives: what may be used, and what was."""

from __future__ import annotations

from dataclasses import dataclass

from turnwright.client.inputs import as_budget
from turnwright.journal.budgets import Budget, BudgetChange, Used
from turnwright.journal.control import ThreadControl
from turnwright.journal.errors import InvalidInput


@dataclass(frozen=True, slots=True)
class TurnSpending:
    """The active turn: the budget that holds for it (its own, else the one of the thread's turns), and its use.

    What its subagents used that have ended is part of that; for the thread it is not.
    """

    turn_id: str
    budget: Budget | None
    used: Used


@dataclass(frozen=True, slots=True)
class ThreadSpending:
    """A thread: its budget, what it used since it began, and the budget of each of its turns."""

    budget: Budget | None
    used: Used
    turns: Budget | None = None
    turn: TurnSpending | None = None


@dataclass(frozen=True, slots=True)
class SessionSpending:
    """A session: its budget, and what its threads used of it; None: nobody counts, for it has no budget."""

    budget: Budget | None
    used: Used | None = None


def budget_of(budget: Budget | None, *, keep: bool) -> Budget:
    """The budget a command sets: all of it, or with `keep` only what it names.

    Raises:
        InvalidInput: it is no budget, or `keep`, and no bound is named.
    """
    as_budget(budget)
    if not keep:
        return budget or Budget()
    if budget is None or not budget.model_fields_set:
        raise InvalidInput("keep=True changes only the bounds that are named; name one, as in Budget(steps=20)")
    return BudgetChange.of(budget)


def thread_spending(control: ThreadControl) -> ThreadSpending:
    """What a thread may use and has used."""
    active = control.active
    turn = None
    if active is not None:
        used = active.used + active.by_children
        turn = TurnSpending(active.turn_id, active.budget or control.turn_budget, used)
    return ThreadSpending(control.budget, control.used, control.turn_budget, turn)
