"""Tasks and plan that replace others as a whole, within the bounds that operations keep."""

from __future__ import annotations

from collections.abc import Sequence

from turnwright.journal.state_ops.limits import (
    ID_CHARACTERS_MAX,
    PLAN_DOCUMENT_BYTES_MAX,
    REQUIREMENTS_MAX,
    SUBJECT_CHARACTERS_MAX,
    TEXT_CHARACTERS_MAX,
    VERIFICATIONS_KEPT_MAX,
)
from turnwright.journal.state_ops.refusal import Refusal, Refused, bounded
from turnwright.journal.state_ops.tasks import fitting
from turnwright.journal.state_ops.todos import checked_todos
from turnwright.journal.state_parts import PlanState, Requirement, TaskState, Verification


def replaced_tasks(before: TaskState, after: TaskState) -> TaskState | Refusal:
    """The tasks as operations might have left them; their revision is the next one, whatever is given."""
    try:
        bounded("The objective", after.objective or "", TEXT_CHARACTERS_MAX, empty=True)
        _check_requirements(after.requirements)
        _check_verifications(after.verifications)
        todos = checked_todos(after.todos)
        return fitting(after.model_copy(update={"todos": todos, "revision": before.revision + 1}))
    except Refused as refused:
        return Refusal(str(refused))


def replaced_plan(after: PlanState) -> PlanState | Refusal:
    """The plan, if it is not too large."""
    try:
        return fitting_plan(after)
    except Refused as refused:
        return Refusal(str(refused))


def fitting_plan(plan: PlanState) -> PlanState:
    """The plan, if its document is not too large.

    Raises:
        Refused: it is.
    """
    size = len(plan.document.encode())
    if size > PLAN_DOCUMENT_BYTES_MAX:
        raise Refused(f"The plan has {size:,} bytes; at most {PLAN_DOCUMENT_BYTES_MAX:,} are kept. Shorten it.")
    return plan


def _check_requirements(requirements: Sequence[Requirement]) -> None:
    if len(requirements) > REQUIREMENTS_MAX:
        raise Refused(f"{len(requirements)} requirements are too many; at most {REQUIREMENTS_MAX} are kept.")
    if len({requirement.id for requirement in requirements}) < len(requirements):
        raise Refused("Each requirement needs an id of its own.")
    for requirement in requirements:
        bounded("The id of a requirement", requirement.id, ID_CHARACTERS_MAX)
        bounded("The requirement", requirement.text, TEXT_CHARACTERS_MAX)
        bounded("The reason", requirement.reason or "", TEXT_CHARACTERS_MAX, empty=True)


def _check_verifications(verifications: Sequence[Verification]) -> None:
    if len(verifications) > VERIFICATIONS_KEPT_MAX:
        raise Refused(f"{len(verifications)} verifications are too many; at most {VERIFICATIONS_KEPT_MAX} are kept.")
    for verification in verifications:
        bounded("The summary", verification.summary, TEXT_CHARACTERS_MAX)
        bounded("The subject", verification.subject, SUBJECT_CHARACTERS_MAX, empty=True)
