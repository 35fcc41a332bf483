"""Budgets: what a turn, a thread or a session may use up before a person is asked.

Rule: a budget is exhausted when what was used has reached it; the operation that goes over it is the last one, so
a budget is passed by less than one operation of each thread. It is no limit of the agent's: over a limit the turn
fails, over a budget it waits.
"""

from __future__ import annotations

from typing import Literal, TypeAlias

from pydantic import Field

from turnwright.journal.authored import Authored
from turnwright.journal.durations import SECOND_US
from turnwright.journal.messages import Frozen, Usage

Scope: TypeAlias = Literal["turn", "thread", "session"]
Bound: TypeAlias = Literal["steps", "tokens", "cost_microusd", "wall_time_s", "tool_calls"]
AMOUNT_MAX = 10**15
WALL_TIME_S_MAX = 10**9
OF_AN_ATTEMPT_MAX = 10**12


class Budget(Authored):
    """What may be used; None is without bound.

    `steps` are model steps begun, `tokens` those of every attempt, `cost_microusd` micro US dollars,
    `wall_time_s` seconds during which an operation ran (waiting, pauses and queues do not count), `tool_calls`
    attempts of tool calls.
    """

    steps: int | None = Field(default=None, strict=True, ge=0, le=AMOUNT_MAX)
    tokens: int | None = Field(default=None, strict=True, ge=0, le=AMOUNT_MAX)
    cost_microusd: int | None = Field(default=None, strict=True, ge=0, le=AMOUNT_MAX)
    wall_time_s: float | None = Field(default=None, strict=True, ge=0, le=WALL_TIME_S_MAX, allow_inf_nan=False)
    tool_calls: int | None = Field(default=None, strict=True, ge=0, le=AMOUNT_MAX)

    @property
    def bounded(self) -> bool:
        """Whether it bounds anything."""
        return self != Budget()


class BudgetChange(Budget):
    """A budget of which only the `named` bounds replace others; None lifts one.

    What the others are is known where it is decided, under the lock: who read them before would undo what somebody
    else changed meanwhile.
    """

    named: tuple[Bound, ...]

    @classmethod
    def of(cls, budget: Budget) -> BudgetChange:
        """The change to what a budget says expressly."""
        said = {name: getattr(budget, name) for name in budget.model_fields_set}
        return cls.model_validate({**said, "named": sorted(said)})

    def on(self, before: Budget | None) -> Budget:
        """The budget as it is then."""
        return (before or Budget()).model_copy(update={name: getattr(self, name) for name in self.named})


class Used(Frozen):
    """What was used; units as in `Budget`, but `wall_us` microseconds."""

    steps: int = 0
    tokens: int = 0
    cost_microusd: int = 0
    wall_us: int = 0
    tool_calls: int = 0

    def __add__(self, other: Used) -> Used:
        """The sum, field by field."""
        return Used(
            steps=self.steps + other.steps,
            tokens=self.tokens + other.tokens,
            cost_microusd=self.cost_microusd + other.cost_microusd,
            wall_us=self.wall_us + other.wall_us,
            tool_calls=self.tool_calls + other.tool_calls,
        )

    def __sub__(self, other: Used) -> Used:
        """The difference, field by field."""
        return Used(
            steps=self.steps - other.steps,
            tokens=self.tokens - other.tokens,
            cost_microusd=self.cost_microusd - other.cost_microusd,
            wall_us=self.wall_us - other.wall_us,
            tool_calls=self.tool_calls - other.tool_calls,
        )

    def plus(self, usage: Usage) -> Used:
        """With the tokens and cost of one attempt."""
        return self + Used(tokens=of_an_attempt(usage.total_tokens), cost_microusd=of_an_attempt(usage.cost_microusd))


NOTHING = Used()


def of_an_attempt(amount: int) -> int:
    """What counts of an amount that a provider names: a wrong one gives nothing back, and every sum can be stored.

    2**70 tokens could not be written to the table of what a session's threads used, so the answer was never recorded.
    """
    return min(max(amount, 0), OF_AN_ATTEMPT_MAX)


def exhausted(budget: Budget, used: Used) -> tuple[str, ...]:
    """The names of what is used up, in the order of the fields."""
    amounts = {
        "steps": used.steps,
        "tokens": used.tokens,
        "cost_microusd": used.cost_microusd,
        "wall_time_s": used.wall_us / SECOND_US,
        "tool_calls": used.tool_calls,
    }
    bounds = {name: getattr(budget, name) for name in amounts}
    return tuple(name for name, bound in bounds.items() if bound is not None and amounts[name] >= bound)
