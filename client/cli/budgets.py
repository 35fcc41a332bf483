"""Budgets on the command line: the options that say one, and how one is shown.

Rule: an option changes what it names; `none` lifts that bound, and what is not named stays.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from decimal import Decimal, InvalidOperation
from typing import Annotated

import typer

from turnwright.client.spending import ThreadSpending
from turnwright.journal.budgets import AMOUNT_MAX, WALL_TIME_S_MAX, Budget, Used
from turnwright.journal.durations import SECOND_US, human
from turnwright.journal.errors import InvalidInput

MICRO = 1_000_000
NONE = "none"
COLUMNS = ("of", "steps", "tokens", "cost", "wall time", "tool calls")

Steps = Annotated[str | None, typer.Option("--steps", metavar="N|none", help="Model steps.")]
Tokens = Annotated[str | None, typer.Option("--tokens", metavar="N|none", help="Tokens of all attempts.")]
CostUsd = Annotated[str | None, typer.Option("--cost-usd", metavar="USD|none", help="Cost in US dollars.")]
WallTime = Annotated[
    str | None, typer.Option("--wall-time", metavar="SECONDS|none", help="Seconds during which operations run.")
]
ToolCalls = Annotated[str | None, typer.Option("--tool-calls", metavar="N|none", help="Attempts of tool calls.")]
BudgetSteps = Annotated[str | None, typer.Option(metavar="N|none", help="Model steps, before somebody is asked.")]
BudgetTokens = Annotated[str | None, typer.Option(metavar="N|none", help="Tokens, before somebody is asked.")]
BudgetCostUsd = Annotated[str | None, typer.Option(metavar="USD|none", help="Cost, before somebody is asked.")]
BudgetWallTime = Annotated[str | None, typer.Option(metavar="SECONDS|none", help="Time, before somebody is asked.")]
BudgetToolCalls = Annotated[str | None, typer.Option(metavar="N|none", help="Calls, before somebody is asked.")]


def budget_given(
    steps: str | None = None,
    tokens: str | None = None,
    cost_usd: str | None = None,
    wall_time: str | None = None,
    tool_calls: str | None = None,
) -> Budget | None:
    """The budget that the words of the options say; None when they say nothing.

    Raises:
        InvalidInput: one is no amount.
    """
    words = dict(zip(_FIELDS, (steps, tokens, cost_usd, wall_time, tool_calls), strict=True))
    said = {_FIELDS[name][0]: _amount(name, text) for name, text in words.items() if text is not None}
    return Budget.model_validate(said) if said else None


def _amount(name: str, text: str) -> float | int | None:
    if text.strip().lower() == NONE:
        return None
    try:
        amount = Decimal(text.strip().removeprefix("$").replace("_", ""))
    except InvalidOperation:
        amount = Decimal("NaN")
    read, most = _FIELDS[name][1:]
    if amount.is_finite() and 0 <= amount <= most:
        found = read(amount)
        if found is not None:
            return found
    raise InvalidInput(f"--{name.replace('_', '-')} {text!r} is no amount; give a number up to {most:,}, or {NONE}")


def _whole(amount: Decimal) -> int | None:
    return int(amount) if amount == amount.to_integral_value() else None


_FIELDS: Mapping[str, tuple[str, Callable[[Decimal], float | int | None], int]] = {
    "steps": ("steps", _whole, AMOUNT_MAX),
    "tokens": ("tokens", _whole, AMOUNT_MAX),
    "cost_usd": ("cost_microusd", lambda usd: round(usd * MICRO), AMOUNT_MAX // MICRO),
    "wall_time": ("wall_time_s", float, WALL_TIME_S_MAX),
    "tool_calls": ("tool_calls", _whole, AMOUNT_MAX),
}


def budget_words(budget: Budget | None) -> str:
    """A budget in a few words."""
    if budget is None or not budget.bounded:
        return "without bound"
    amounts = _amounts(budget)
    return ", ".join(f"{amounts[name]} {_noun(name, amounts[name])}" for name in COLUMNS[1:] if name in amounts)


def _noun(name: str, amount: str) -> str:
    return name.removesuffix("s") if amount == "1" else name


def used_words(budget: Budget | None, used: Used) -> str:
    """What was used of what is bounded, each beside its bound."""
    bounds, uses = _amounts(budget or Budget()), _amounts(used)
    return ", ".join(f"{uses[name]} of {bounds[name]} {name} used" for name in COLUMNS[1:] if name in bounds)


def row(name: str, budget: Budget | None, used: Used | None) -> tuple[str, ...]:
    """One line of a table with `COLUMNS`."""
    return name, *_cells(budget, used)


def _cells(budget: Budget | None, used: Used | None) -> Sequence[str]:
    bounds = {} if budget is None else _amounts(budget)
    uses = {} if used is None else _amounts(used)
    return [_cell(uses.get(name), bounds.get(name)) for name in COLUMNS[1:]]


def _cell(used: str | None, bound: str | None) -> str:
    if used is None:
        return "" if bound is None else f"at most {bound}"
    return used if bound is None else f"{used} of {bound}"


def _amounts(given: Budget | Used) -> dict[str, str]:
    """The amounts that are there, as people read them."""
    wall_s = given.wall_time_s if isinstance(given, Budget) else given.wall_us / SECOND_US
    plain = {"steps": given.steps, "tokens": given.tokens, "tool calls": given.tool_calls}
    found = {name: f"{value:,}" for name, value in plain.items() if value is not None}
    if given.cost_microusd is not None:
        found["cost"] = usd(given.cost_microusd)
    if wall_s is not None:
        found["wall time"] = human(round(wall_s * SECOND_US))
    return found


def usd(microusd: int) -> str:
    """An amount of US dollars, with as many digits as it has."""
    whole, _, rest = f"{microusd / MICRO:.6f}".partition(".")
    return f"${int(whole):,}.{rest.rstrip('0'):0<2}"


def thread_rows(spending: ThreadSpending) -> list[tuple[str, ...]]:
    """The lines about a thread."""
    turn = spending.turn
    rows = [] if turn is None else [row(f"turn {turn.turn_id}", turn.budget, turn.used)]
    return [*rows, row("each turn", spending.turns, None), row("thread", spending.budget, spending.used)]
