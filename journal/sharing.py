"""What a turn's budget leaves for a child that it opens.

Rule: a child gets its part when it is opened, as a budget of its own: an equal part of what is left for each call of
the step that may still open one. Until it has ended the part counts as taken, then what it used counts. So nothing is
spent through children over the parent's bound unless a person raises the child's, who sees whose child it is. Tokens
and cost are shared; steps, calls and time are each turn's own.
"""

from __future__ import annotations

from collections.abc import Collection

from turnwright.journal.budgets import Budget, Used
from turnwright.journal.control import ActiveTurn, ThreadControl

SHARED = {"tokens": "tokens", "cost_microusd": "cost"}


def share_of(
    control: ThreadControl, active: ActiveTurn, siblings: Collection[str], own: Budget | None
) -> Budget | str | None:
    """The child's budget: what its agent may use at most (`own`), within its part; a text names what is used up."""
    bounds = active.budget or control.turn_budget
    if bounds is None:
        return own
    budget, open_ = own or Budget(), max(1, _may_still_open(active, siblings))
    for name, word in SHARED.items():
        bound = getattr(bounds, name)
        if bound is None:
            continue
        part = (bound - getattr(taken(active), name)) // open_
        if part <= 0:
            return word
        mine = getattr(budget, name)
        budget = budget.model_copy(update={name: part if mine is None else min(mine, part)})
    return budget if budget.bounded else None


def _may_still_open(active: ActiveTurn, siblings: Collection[str]) -> int:
    return sum(call.call_id in siblings and call.state not in ("closed", "deferred") for call in active.calls)


def taken(active: ActiveTurn) -> Used:
    """What counts for the turn's budget: what it and its ended children used, and what is set aside for the open ones.

    Of a turn that ends with open children this is what its parent counts, for nobody waits to learn what they used.
    """
    used = active.used + active.by_children
    shares = [child.budget for child in active.children if child.budget is not None]
    return Used(
        tokens=used.tokens + sum(share.tokens or 0 for share in shares),
        cost_microusd=used.cost_microusd + sum(share.cost_microusd or 0 for share in shares),
    )
