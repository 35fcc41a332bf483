"""An agent's state for people: what it goes by, what it works on, what it has in mind."""

from __future__ import annotations

from turnwright.client.cli import telling
from turnwright.client.cli.screen import Screen
from turnwright.journal.agent_state import AgentState
from turnwright.journal.permissions.change import RuleKind
from turnwright.journal.permissions.rules import rule_text
from turnwright.journal.state_parts import PermissionState, TaskState

KINDS: tuple[RuleKind, ...] = ("deny", "ask", "allow")


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
        *_task_facts(state.tasks),
        ("summary", state.summary),
        ("waiting", f"{len(state.inbox)} messages no model has seen" if state.inbox else ""),
    ])  # fmt: skip
    for message in state.context:
        results = " ".join(f"{r.name} {r.outcome}: {telling.said(r.output)}" for r in message.results)
        blocks = telling.said(b for b in message.blocks if b.type != "tool_result")
        screen.line(f"{message.seq:>6}  {message.role:<10} {' '.join(part for part in (blocks, results) if part)}")


def permission_words(permissions: PermissionState) -> str:
    """Permissions in a few words."""
    counts = [f"{len(getattr(permissions, kind))} {kind}" for kind in KINDS if getattr(permissions, kind)]
    return f"mode {permissions.mode}" + (f", rules: {', '.join(counts)}" if counts else "")


def show_permissions(permissions: PermissionState, screen: Screen) -> None:
    """Permissions, rule by rule, in the order in which they count."""
    screen.facts([("mode", permissions.mode), ("directories", ", ".join(permissions.working_directories))])
    rows = [(kind, rule_text(rule), rule.source) for kind in KINDS for rule in getattr(permissions, kind)]
    screen.table(("kind", "rule", "set by"), rows, "there are no rules")


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
