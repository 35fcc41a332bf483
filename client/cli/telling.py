"""An entry in a few words, for people who watch. Rule: a table; a type that is not in it shows its name alone."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from typing import Any

from turnwright.client.cli.budgets import budget_words
from turnwright.client.cli.permissions import permission_words
from turnwright.client.cli.screen import local
from turnwright.journal.durations import human
from turnwright.journal.entries import (
    BudgetChanged,
    ByPrincipal,
    ChildFinished,
    ChildSpawned,
    ContextCompacted,
    ContextCompactionFailed,
    ContextOffloaded,
    Entry,
    EntryErased,
    InputInjected,
    InputSteered,
    InteractionExpired,
    InteractionRequested,
    InteractionResolved,
    MemoryChanged,
    MessageImported,
    ModelFailed,
    ModelInterrupted,
    ModelLate,
    ModelRequested,
    ModelResponded,
    PermissionsChanged,
    PlanChanged,
    RunClaimed,
    SessionBudgetChanged,
    SessionCreated,
    SessionImported,
    SessionNotDescribed,
    SessionSummarised,
    SessionTitled,
    StateUpdated,
    ThreadForked,
    ThreadImported,
    ThreadOpened,
    ThreadRewound,
    ToolDecided,
    ToolFinished,
    ToolLate,
    ToolReconciled,
    ToolsChanged,
    ToolsListed,
    ToolStarted,
    TurnCancelled,
    TurnCancelRequested,
    TurnFailed,
    TurnQueued,
    TurnWaiting,
)
from turnwright.journal.messages import Block, Text, ToolCall
from turnwright.journal.turn_status import CANCELLED

CHARACTERS_MAX = 120
TYPE_CHARACTERS = 21


def tell(entry: Entry) -> str:
    """One line: when, what, and the heart of it."""
    step = f"step {entry.step} " if entry.step is not None and entry.type.startswith(("model", "tool")) else ""
    who = _who(entry.payload) if isinstance(entry.payload, ByPrincipal) else ""
    return f"{local(entry.at_us)}  {entry.type:<{TYPE_CHARACTERS}} {step}{short(heart(entry))}{who}".rstrip()


def heart(entry: Entry) -> str:
    """What matters of an entry, in full; nothing of one that was erased."""
    return _TABLE.get(type(entry.payload), lambda _: "")(entry.payload)


def short(text: str, characters_max: int = CHARACTERS_MAX) -> str:
    """The text on one line, cut where it gets long."""
    line = " ".join(text.split())
    return line if len(line) <= characters_max else f"{line[: characters_max - 1]}…"


def _who(payload: ByPrincipal) -> str:
    who = ": ".join(part for part in (payload.principal, short(payload.reason or "")) if part)
    return f"  [{who}]" if who else ""


def said(blocks: Iterable[Block]) -> str:
    """What a model said and what it calls."""
    parts = []
    for block in blocks:
        match block:
            case Text(text=text):
                parts.append(text)
            case ToolCall(name=name, arguments=arguments):
                parts.append(f"{name}({json.dumps(arguments, ensure_ascii=False)})")
            case _:
                parts.append(f"[{block.type}]")
    return " ".join(parts)


def _finished(payload: ToolFinished) -> str:
    unsure = ", whether it had its effect is unknown" if payload.effect_unknown else ""
    spent = f" after {human(payload.duration_ms * 1000)}" if payload.duration_ms else ""
    return f"{payload.name} {payload.call_id} {payload.outcome}{spent}{unsure}: {said(payload.output)}"


def _asked(payload: InteractionRequested) -> str:
    asked = payload.asked
    about = asked.get("tool") or asked.get("scope") or ""
    arguments = f"({json.dumps(asked['arguments'], ensure_ascii=False)})" if "arguments" in asked else ""
    prompt = f": {asked['prompt']}" if asked.get("prompt") else ""
    return f"{payload.kind} {payload.interaction_id} {about}{arguments}{prompt}"


_SCOPES = {"turns": "turns to come"}
_TABLE: dict[type, Callable[[Any], str]] = {
    SessionCreated: lambda p: p.title or "",
    ThreadImported: lambda p: f"{p.messages} messages of {p.source}, {len(p.notes)} notes",
    MessageImported: lambda p: f"{p.message.role}: {said(p.message.blocks)}",
    SessionTitled: lambda p: p.title or "",
    SessionSummarised: lambda p: p.summary,
    SessionNotDescribed: lambda p: p.failed,
    ThreadOpened: lambda p: f"{p.agent.name} with {p.agent.model}",
    ThreadForked: lambda p: f"from entry {p.at_seq} of thread {p.origin}",
    ThreadRewound: lambda p: f"to entry {p.to_seq}",
    TurnQueued: lambda p: said(p.input.blocks),
    InputSteered: lambda p: said(p.message.blocks),
    InputInjected: lambda p: said(p.message.blocks),
    RunClaimed: lambda p: p.temporal_run_id,
    TurnWaiting: lambda p: f"for {', '.join(p.interactions)} (see `turnwright turn why`)",
    TurnFailed: lambda p: f"{p.code}: {p.message}",
    TurnCancelled: lambda p: "; ".join(part for part in (CANCELLED[p.source], p.effects_unknown) if part),
    TurnCancelRequested: lambda p: CANCELLED[p.source],
    ModelRequested: lambda p: f"attempt {p.ordinal} on {p.presence}",
    ModelResponded: lambda p: said(p.blocks),
    ModelFailed: lambda p: f"attempt {p.ordinal}: {p.failure}: {p.message}",
    ModelInterrupted: lambda p: f"attempt {p.ordinal}: {p.reason}: {said(p.partial)}",
    ModelLate: lambda p: f"attempt {p.ordinal} {p.what}: {said(p.blocks)}",
    ToolDecided: lambda p: f"{p.name} {p.call_id}: {p.decision} ({p.source})",
    ToolStarted: lambda p: f"{p.name} {p.call_id} attempt {p.ordinal} on {p.presence}",
    ToolFinished: _finished,
    ChildSpawned: lambda p: f"{p.child_turn}{', detached' if p.detached else ''}: {p.task}",
    ChildFinished: lambda p: f"{p.child_turn}: {p.phase}",
    ToolReconciled: lambda p: f"{p.name} {p.call_id}: {p.outcome}",
    ToolLate: lambda p: f"{p.name} {p.call_id} attempt {p.ordinal} {p.outcome}: {said(p.output)}",
    InteractionRequested: _asked,
    InteractionExpired: lambda p: f"{p.interaction_id}: {p.resolution}",
    ContextCompacted: lambda p: f"entries {p.from_seq} to {p.to_seq}: {p.summary}",
    ContextCompactionFailed: lambda p: p.reason,
    ContextOffloaded: lambda p: f"the result of {p.call_id}, entry {p.result_seq}",
    PermissionsChanged: lambda p: permission_words(p.permissions),
    BudgetChanged: lambda p: f"of the {_SCOPES.get(p.scope, p.scope)}: {budget_words(p.budget)}",
    SessionBudgetChanged: lambda p: budget_words(p.budget),
    SessionImported: lambda p: f"session {p.session} of journal {p.journal}",
    PlanChanged: lambda p: f"{'active' if p.plan.active else 'not active'}: {p.plan.document}",
    MemoryChanged: lambda p: f"revision {p.memory.revision}: {p.memory.document}",
    ToolsChanged: lambda p: ", ".join(p.groups),
    ToolsListed: lambda p: f"{p.source}: {', '.join(tool.name for tool in p.tools) or 'no tools'}",
    StateUpdated: lambda p: ", ".join(p.changes),
    EntryErased: lambda p: f"entry {p.erased_seq}",
    InteractionResolved: lambda p: f"{p.interaction_id}: {p.resolution}",
}
