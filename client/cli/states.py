"""An agent's state for people: what it goes by, what it works on, what it has in mind."""

from __future__ import annotations

from turnwright.client.cli import telling
from turnwright.client.cli.permissions import permission_words
from turnwright.client.cli.screen import Screen
from turnwright.journal.agent_state import AgentState, Compaction
from turnwright.journal.state_parts import MemoryState, TaskState


def show_state(state: AgentState, screen: Screen) -> None:
    """The state, its messages last."""
    used = state.usage.total
    plan = telling.short(state.plan.document)
    screen.facts([
        ("as of", f"entry {state.as_of_seq}"),
        ("agent", "" if state.agent is None else f"{state.agent.name} with {state.agent.model}"),
        ("used", f"{used.input_tokens} tokens in, {used.output_tokens} out, {used.requests} requests"),
        ("permissions", permission_words(state.permissions)),
        ("tool groups", ", ".join(state.tools)),
        ("plan", f"active: {plan}" if state.plan.active else plan),
        ("memory", _memory(state.memory)),
        *_task_facts(state.tasks),
        ("summary", state.summary),
        ("compaction", _compaction(state.compaction)),
        ("waiting", f"{len(state.inbox)} messages no model has seen" if state.inbox else ""),
    ])  # fmt: skip
    for message in state.context:
        results = " ".join(f"{r.name} {r.outcome}: {telling.said(r.output)}" for r in message.results)
        blocks = telling.said(b for b in message.blocks if b.type != "tool_result")
        screen.line(f"{message.seq:>6}  {message.role:<10} {' '.join(part for part in (blocks, results) if part)}")


def _compaction(compaction: Compaction) -> str:
    if compaction.requested_seq:
        return f"asked for in entry {compaction.requested_seq}, with the next model call"
    return f"the last try brought nothing: {compaction.reason}" if compaction.failures else ""


def _memory(memory: MemoryState) -> str:
    return f"revision {memory.revision}: {telling.short(memory.document)}" if memory.revision else ""


def _task_facts(tasks: TaskState) -> list[tuple[str, str]]:
    objective = "" if tasks.objective is None else f"{tasks.objective} ({tasks.objective_state})"
    checks = {check.requirement: "passed" if check.passed else "failed" for check in tasks.verifications}
    return [
        ("objective", objective),
        *(("requirement", f"{r.id} {r.state}{_checked(checks.get(r.id))}: {r.text}") for r in tasks.requirements),
        *(("todo", f"{todo.id} {todo.state}: {todo.subject}") for todo in tasks.todos),
    ]


def _checked(outcome: str | None) -> str:
    return "" if outcome is None else f", check {outcome}"
