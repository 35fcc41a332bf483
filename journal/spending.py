"""What a turn, a thread and a session have used, and what may not start any more because of it.

Rule: a function of control, session and facts, so every run asks the same and gets one answer. A session's use
is known only when the shell brings what its other threads took (`Facts.elsewhere`), which it does wherever an
operation may start. This thread's part is always that of the control, or a reservation that was just given back
would still count. What the running model calls of others reserved holds operations up, but asks nobody: all or most
of it comes back.
"""

from __future__ import annotations

from turnwright.journal.actions import ModelOp, Op, OverBudget, ToolOp
from turnwright.journal.budgets import NOTHING, Budget, Scope, Used, exhausted
from turnwright.journal.control import OpenInteraction, SessionControl, ThreadControl
from turnwright.journal.facts import Facts

_BEFORE_A_TOOL = frozenset({"tool_calls", "wall_time_s"})
_BEFORE_A_MODEL = frozenset({"steps", "tokens", "cost_microusd", "wall_time_s"})


def spent(control: ThreadControl, facts: Facts, scope: Scope) -> Used:
    """What was used in that scope."""
    match scope:
        case "turn":
            return Used() if control.active is None else control.active.used + control.active.by_children
        case "thread":
            return control.used
        case "session":
            return (facts.elsewhere or Used()) + committed(control)


def committed(control: ThreadControl) -> Used:
    """What the thread takes of its session's budget: what it used, and what its running model call reserved."""
    active = control.active
    model = None if active is None else active.model
    return control.used if model is None or model.claim is None else control.used + model.reserved


def reserved(control: ThreadControl) -> Used:
    """What of that only its running model call reserved."""
    return committed(control) - control.used


def budgets(control: ThreadControl, session: SessionControl, facts: Facts) -> list[tuple[Scope, Budget]]:
    """The budgets that hold now, the narrowest first."""
    active = control.active
    found: list[tuple[Scope, Budget | None]] = [
        ("turn", None if active is None else active.budget or control.turn_budget),
        ("thread", control.budget),
        ("session", None if facts.elsewhere is None else session.budget),
    ]
    return [(scope, budget) for scope, budget in found if budget is not None]


def over_budget(
    control: ThreadControl, session: SessionControl, facts: Facts, op: Op, about_to: Used = NOTHING
) -> OverBudget | None:
    """Why this operation may not start, if a budget is used up; the narrowest says it.

    `about_to` is what starts before it.
    """
    names = _counted(op)
    for scope, budget in budgets(control, session, facts):
        used = spent(control, facts, scope) + about_to
        for others in (NOTHING, facts.reserved if scope == "session" else NOTHING):
            over = tuple(name for name in exhausted(budget, used + others) if name in names)
            if over:
                return OverBudget(scope, over, budget, used, reserved=others != NOTHING)
    return None


def still_over(question: OpenInteraction, budget: Budget, used: Used) -> tuple[str, ...]:
    """What the question about a budget is about and this budget does not allow either."""
    return tuple(name for name in exhausted(budget, used) if not question.over or name in question.over)


def _counted(op: Op) -> frozenset[str]:
    """What the operation would use more of. Another attempt of a step begins no step."""
    match op:
        case ToolOp():
            return _BEFORE_A_TOOL
        case ModelOp(ordinal=1):
            return _BEFORE_A_MODEL
        case ModelOp():
            return _BEFORE_A_MODEL - {"steps"}
        case _:
            return frozenset()
