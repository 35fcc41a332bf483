"""The briefing: what a model should know about plan, tasks and tools before it answers.

Rule: it ends a request and is never stored. It is a function of the state, so it says what is true now
and nothing that was true once; what a tool proposed and what the user confirmed have different words.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from turnwright.journal.agent_state import AgentState
from turnwright.journal.state_parts import PlanState, Requirement, TaskState, Todo

HEADING: Final = "State of your work, written by the system and not by the user:"
MEMORY_HEADING: Final = "What is remembered on this thread"
RECALLED_HEADING: Final = "What the application remembers:"
TEXT_CHARACTERS_MAX: Final = 1_000
VERIFICATIONS_SHOWN_MAX: Final = 20
_STATES: Final = {"pending": " ", "in_progress": ">", "completed": "x"}


def briefing(state: AgentState, recalled: str = "") -> str:
    """The text a request ends with; empty when there is nothing to say.

    `recalled` is what the agent's own source of memory says for this request; it is kept nowhere.
    """
    sections = [
        *_memory(state, recalled),
        *_plan(state.plan),
        *_objective(state.tasks),
        *_requirements(state.tasks.requirements),
        *_failed(state.tasks),
        *_todos(state.tasks),
        *_groups(state),
    ]
    return "\n\n".join([HEADING, *sections]) if sections else ""


def _memory(state: AgentState, recalled: str) -> Iterator[str]:
    """What was written before, by the agent or people, for every request; none of it is what the user says now."""
    memory = state.memory
    if memory.document:
        yield f"{MEMORY_HEADING} (revision {memory.revision}):\n{memory.document}"
    if recalled:
        yield f"{RECALLED_HEADING}\n{recalled}"


def _plan(plan: PlanState) -> Iterator[str]:
    if not plan.active:
        return
    yield (
        "You are planning. Only tools that change nothing can be called until the plan is left, and leaving it needs "
        "the user's approval. Write down what you will do, then leave the plan; do not act before."
    )
    yield f"The plan so far:\n{plan.document}" if plan.document else "The plan has no text yet."


def _objective(tasks: TaskState) -> Iterator[str]:
    match tasks.objective, tasks.objective_state:
        case None, _:
            return
        case text, "confirmed":
            yield f"Objective: {text}"
        case text, "proposed":
            yield f"Objective you proposed; the user has not confirmed it: {text}"
        case text, "rejected":
            yield f"The user rejected this objective, do not work towards it: {_short(text or '')}"


def _requirements(requirements: Sequence[Requirement]) -> Iterator[str]:
    yield from _listed(
        "Requirements the user confirmed; the result must satisfy each:",
        [f"- {known.id}: {known.text}" for known in requirements if known.state == "confirmed"],
    )
    yield from _listed(
        "Requirements that are only proposed; do not treat them as wanted before they are confirmed:",
        [f"- {known.id}: {known.text}" for known in requirements if known.state == "proposed"],
    )


def _failed(tasks: TaskState) -> Iterator[str]:
    """The requirements whose latest check on a subject failed."""
    latest = {(found.requirement, found.subject): found for found in tasks.verifications}
    failed = [found for found in latest.values() if not found.passed][-VERIFICATIONS_SHOWN_MAX:]
    lines = [
        f"- {found.requirement}{f' on {found.subject}' if found.subject else ''}: {_short(found.summary)}"
        for found in failed
    ]
    yield from _listed("Checks that failed:", lines)


def _todos(tasks: TaskState) -> Iterator[str]:
    completed = {todo.id for todo in tasks.todos if todo.state == "completed"}
    lines = [_todo(todo, completed) for todo in tasks.todos if todo.id not in completed]
    done = f" {len(completed)} completed ones are left out." if completed else ""
    yield from _listed(f"Open todos ([>] in progress, [ ] pending), at revision {tasks.revision}.{done}", lines)


def _todo(todo: Todo, completed: set[str]) -> str:
    waits_for = [id_ for id_ in todo.blocked_by if id_ not in completed]
    owner = f" ({todo.owner})" if todo.owner else ""
    waiting = f", waits for {', '.join(waits_for)}" if waits_for else ""
    return f"- [{_STATES[todo.state]}] {todo.id}: {todo.subject}{owner}{waiting}"


def _groups(state: AgentState) -> Iterator[str]:
    names: dict[str, list[str]] = {}
    for tool in () if state.agent is None else state.agent.tools:
        if tool.group is not None and tool.group not in state.tools:
            names.setdefault(tool.group, []).append(tool.name)
    yield from _listed(
        "Tool groups that are not activated; activate one to call its tools:",
        [f"- {group}: {_short(', '.join(tools))}" for group, tools in sorted(names.items())],
    )


def _listed(heading: str, lines: Sequence[str]) -> Iterator[str]:
    if lines:
        yield "\n".join([heading, *lines])


def _short(text: str) -> str:
    return text if len(text) <= TEXT_CHARACTERS_MAX else f"{text[:TEXT_CHARACTERS_MAX]}…"
