"""What operations make of the tasks.

Rule: a tool proposes, a trusted caller settles; what is settled no tool changes. Every change raises the
revision by one, also a write of what was there already.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from turnwright.journal.canonical import encode
from turnwright.journal.state_ops.limits import (
    REQUIREMENTS_MAX,
    SUBJECT_CHARACTERS_MAX,
    TASKS_BYTES_MAX,
    TEXT_CHARACTERS_MAX,
    VERIFICATIONS_KEPT_MAX,
)
from turnwright.journal.state_ops.ops import (
    AddVerification,
    BeginTask,
    DecideObjective,
    DecideRequirement,
    ProposeObjective,
    ProposeRequirement,
    WriteTodos,
)
from turnwright.journal.state_ops.refusal import Refused, bounded, quoted
from turnwright.journal.state_ops.todos import checked_todos
from turnwright.journal.state_parts import Requirement, TaskState, Verification

TasksOp = (
    WriteTodos
    | ProposeObjective
    | ProposeRequirement
    | BeginTask
    | DecideObjective
    | DecideRequirement
    | AddVerification
)


@dataclass(frozen=True, slots=True)
class Whose:
    """Who applies an operation, and when, as far as they are known."""

    by: str | None = None
    at: str | None = None


def changed_tasks(op: TasksOp, tasks: TaskState, whose: Whose) -> TaskState:
    """The tasks after the operation.

    Raises:
        Refused: it may not be.
    """
    return fitting(tasks.model_copy(update={**_changes(op, tasks, whose), "revision": tasks.revision + 1}))


def fitting(after: TaskState) -> TaskState:
    """The tasks, if all of them together are not too large.

    Raises:
        Refused: they are.
    """
    if len(encode(after.model_dump(mode="json", exclude_defaults=True))) > TASKS_BYTES_MAX:
        raise Refused(
            f"All todos, requirements and verifications together may have {TASKS_BYTES_MAX:,} bytes, and this would be "
            "more. Shorten descriptions, or drop completed todos."
        )
    return after


def _changes(op: TasksOp, tasks: TaskState, whose: Whose) -> dict[str, Any]:
    match op:
        case WriteTodos():
            return _todos(op, tasks)
        case ProposeObjective():
            return _proposed_objective(op, tasks)
        case ProposeRequirement():
            return {"requirements": _proposed(op, tasks.requirements)}
        case BeginTask():
            return _begun(op, whose)
        case DecideObjective():
            return _decided_objective(op, tasks, whose)
        case DecideRequirement():
            return {"requirements": _decided(op, tasks.requirements, whose)}
        case AddVerification():
            return {"verifications": _verified(op, tasks, whose)}


def _todos(op: WriteTodos, tasks: TaskState) -> dict[str, Any]:
    if op.expected_revision is not None and op.expected_revision != tasks.revision:
        raise Refused(
            f"The tasks changed meanwhile: they are at revision {tasks.revision}, not {op.expected_revision}. "
            "Look at them as they are now and write the whole list again."
        )
    return {"todos": checked_todos(op.todos)}


def _proposed_objective(op: ProposeObjective, tasks: TaskState) -> dict[str, Any]:
    bounded("The objective", op.text, TEXT_CHARACTERS_MAX)
    if tasks.objective is not None and tasks.objective_state == "confirmed":
        raise Refused("The objective is confirmed; only the user changes it. Work towards it, or ask the user.")
    if op.text == tasks.objective and tasks.objective_state == "rejected":
        raise Refused("This objective was rejected. Ask the user what the objective is, or propose another.")
    return {"objective": op.text, "objective_state": "proposed", "objective_settled_by": None}


def _proposed(op: ProposeRequirement, requirements: tuple[Requirement, ...]) -> tuple[Requirement, ...]:
    bounded("The requirement", op.text, TEXT_CHARACTERS_MAX)
    same = next((known for known in requirements if known.text == op.text and known.id != op.id), None)
    if same is not None:
        raise Refused(f"This requirement is there already: {same.id}, {same.state}. Do not propose it again.")
    if op.id is None:
        return _added(requirements, op.text)
    known = _known(requirements, op.id)
    if known.state != "proposed":
        raise Refused(
            f"Requirement {op.id} is {known.state}, and only the user changes that. Propose another one without an id."
        )
    return _replaced(requirements, known.model_copy(update={"text": op.text}))


def _added(requirements: tuple[Requirement, ...], text: str) -> tuple[Requirement, ...]:
    if len(requirements) >= REQUIREMENTS_MAX:
        raise Refused(f"There are {REQUIREMENTS_MAX} requirements already; no more are kept. Reword a proposed one.")
    taken = {known.id for known in requirements}
    free = next(id_ for n in range(1, REQUIREMENTS_MAX + 2) if (id_ := f"r{n}") not in taken)
    return (*requirements, Requirement(id=free, text=text))


def _begun(op: BeginTask, whose: Whose) -> dict[str, Any]:
    bounded("The objective", op.objective, TEXT_CHARACTERS_MAX)
    requirements: tuple[Requirement, ...] = ()
    for text in op.requirements:
        requirements = _proposed(ProposeRequirement(text=text), requirements)
    settled = {"state": "confirmed", "settled_by": whose.by, "settled_at": whose.at}
    return {
        "objective": op.objective,
        "objective_state": "confirmed",
        "objective_settled_by": whose.by,
        "requirements": tuple(requirement.model_copy(update=settled) for requirement in requirements),
        "todos": (),
        "verifications": (),
    }


def _decided_objective(op: DecideObjective, tasks: TaskState, whose: Whose) -> dict[str, Any]:
    if tasks.objective is None:
        raise Refused("There is no objective to settle; begin a task with one.")
    return {"objective_state": op.verdict, "objective_settled_by": whose.by}


def _decided(op: DecideRequirement, requirements: tuple[Requirement, ...], whose: Whose) -> tuple[Requirement, ...]:
    bounded("The reason", op.reason or "", TEXT_CHARACTERS_MAX, empty=True)
    settled = {"state": op.verdict, "settled_by": whose.by, "settled_at": whose.at, "reason": op.reason}
    return _replaced(requirements, _known(requirements, op.id).model_copy(update=settled))


def _verified(op: AddVerification, tasks: TaskState, whose: Whose) -> tuple[Verification, ...]:
    _known(tasks.requirements, op.requirement)
    bounded("The summary", op.summary, TEXT_CHARACTERS_MAX)
    bounded("The subject", op.subject, SUBJECT_CHARACTERS_MAX, empty=True)
    found = Verification(
        requirement=op.requirement,
        passed=op.passed,
        summary=op.summary,
        subject=op.subject,
        by=whose.by,
        at=whose.at,
    )
    return (*tasks.verifications, found)[-VERIFICATIONS_KEPT_MAX:]


def _known(requirements: tuple[Requirement, ...], id_: str) -> Requirement:
    known = next((requirement for requirement in requirements if requirement.id == id_), None)
    if known is None:
        ids = ", ".join(requirement.id for requirement in requirements) or "none"
        raise Refused(f"There is no requirement {quoted(id_)}; there are: {ids}.")
    return known


def _replaced(requirements: tuple[Requirement, ...], with_: Requirement) -> tuple[Requirement, ...]:
    return tuple(with_ if known.id == with_.id else known for known in requirements)
