"""The parts of AgentScope's state beside its messages as ours, and back: summary, tasks, plan, tool groups."""

from __future__ import annotations

from typing import Any, Final, get_args

from turnwright.journal.agent_state import AgentState
from turnwright.journal.elsewhere.agentscope.permissions import CONTEXT, read_permissions, written_permissions
from turnwright.journal.elsewhere.document import Place
from turnwright.journal.elsewhere.reading import Reading
from turnwright.journal.state_ops import Refusal, replaced_tasks
from turnwright.journal.state_parts import MemoryState, PermissionState, PlanState, TaskState, Todo

TASKS, TOOLS, PLAN = "tasks_context", "tool_context", "plan_mode_context"
_TODO_STATES: Final = get_args(Todo.model_fields["state"].annotation)
GROUPS_MAX: Final = 100
NAMES: Final = ("summary", "permissions", "plan", "tasks", "tools", "memory")


def read_parts(place: Place, reading: Reading) -> dict[str, Any]:
    """The parts of the state by their names here. Raises `InvalidInput`."""
    permissions, plan = place.find(CONTEXT), place.find(PLAN)
    return {
        "summary": _summary(place.part("summary"), reading),
        "permissions": PermissionState() if permissions is None else read_permissions(permissions, reading),
        "plan": PlanState(active=plan is not None and plan.flag("plan_active")),
        "tasks": _tasks(place.find(TASKS), reading),
        "tools": _groups(place.find(TOOLS)),
        "memory": MemoryState(),
    }


def _summary(place: Place, reading: Reading) -> str:
    if place.value is None or isinstance(place.value, str):
        return place.value or ""
    words: list[str] = []
    for item in place.items():
        text = item.word("text")
        if text is None:
            reading.note(item.path, "only the words of a summary are taken along")
        words.append(text or "")
    return "".join(words)


def _tasks(place: Place | None, reading: Reading) -> TaskState:
    if place is None:
        return TaskState()
    for key in sorted(place.fields().keys() - {"tasks", "revision"}):
        reading.note(place.part(key).path, "this is kept aside: only todos are taken along")
    found = place.find("tasks")
    todos = tuple(map(_todo, found.items())) if found is not None else ()
    checked = replaced_tasks(TaskState(), TaskState(todos=todos))
    if isinstance(checked, Refusal):
        reading.note(place.path, f"the tasks are kept aside: {checked.message}")
        return TaskState()
    return checked if todos else TaskState()


def _todo(place: Place) -> Todo:
    state = place.word("state") or "pending"
    if state.lower() not in _TODO_STATES:
        raise place.part("state").expected(f"one of {', '.join(_TODO_STATES)}")
    return Todo(
        id=place.part("id").text(),
        subject=place.part("subject").text(),
        description=place.word("description") or "",
        state=state.lower(),  # type: ignore[arg-type]  # it is one of them
        owner=place.word("owner"),
        blocks=_names(place.find("blocks")),
        blocked_by=_names(place.find("blocked_by")),
    )


def _groups(place: Place | None) -> tuple[str, ...]:
    found = None if place is None else place.find("activated_groups")
    names = _names(found)
    if found is not None and len(names) > GROUPS_MAX:
        raise found.wrong(f"{len(names)} groups, {GROUPS_MAX} are the most")
    return names


def _names(place: Place | None) -> tuple[str, ...]:
    return () if place is None else tuple(dict.fromkeys(item.text() for item in place.items()))


def plain_parts(parts: dict[str, Any]) -> dict[str, Any]:
    """The parts as JSON."""
    return {
        name: part if isinstance(part, str) else list(part) if isinstance(part, tuple) else part.model_dump(mode="json")
        for name, part in parts.items()
    }


def parts_of(state: AgentState) -> dict[str, Any]:
    """The parts of a state that a document can hold."""
    return {name: getattr(state, name) for name in NAMES}


def written_parts(parts: dict[str, Any]) -> dict[str, Any]:
    """Our parts as AgentScope has them."""
    return {
        "summary": parts["summary"],
        CONTEXT: written_permissions(parts["permissions"]),
        TOOLS: {"activated_groups": list(parts["tools"])},
        TASKS: {"tasks": [_written_todo(todo) for todo in parts["tasks"].todos]},
        PLAN: {"plan_active": parts["plan"].active},
    }


def _written_todo(todo: Todo) -> dict[str, Any]:
    return todo.model_dump(mode="json") | {"metadata": {}}
