"""An entry of the journal in the words of the demonstration. Rule: a table; what is not in it is not told."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from typing import Any

from turnwright.journal.entries import (
    Entry,
    InputSteered,
    ModelFailed,
    ModelInterrupted,
    ModelRequested,
    ModelResponded,
    RunClaimed,
    ToolFinished,
    ToolReconciled,
    ToolStarted,
    TurnCancelled,
    TurnCompleted,
    TurnFailed,
    TurnPaused,
    TurnPauseRequested,
    TurnQueued,
    TurnResumed,
)
from turnwright.journal.messages import Block, Text, ToolCall

CHARACTERS_MAX = 96
Name = Callable[[str], str]


def narrate(entry: Entry, worker_called: Name) -> str | None:
    """One line about an entry, or None; `worker_called` gives the name of a worker from its presence."""
    words = _TABLE.get(type(entry.payload))
    return None if words is None else words(entry, entry.payload, worker_called)


def short(text: str, characters_max: int = CHARACTERS_MAX) -> str:
    """The text on one line, cut where it gets long."""
    line = " ".join(text.split())
    return line if len(line) <= characters_max else f"{line[: characters_max - 1]}…"


def said(blocks: Iterable[Block]) -> str:
    """What a model said, and what it calls."""
    parts = []
    for block in blocks:
        match block:
            case Text(text=text) if text.strip():
                parts.append(f"“{short(text)}”")
            case ToolCall(name=name, arguments=arguments):
                parts.append(short(f"calls {name} {json.dumps(arguments, ensure_ascii=False)}"))
    return ", ".join(parts) or "nothing"


def _output(blocks: Iterable[Block]) -> str:
    return f", {said(blocks)}" if blocks else ""


def _kept(partial: Iterable[Block]) -> str:
    return f"; kept: {said(partial)}" if partial else ""


def _attempt(ordinal: int) -> str:
    return "" if ordinal == 1 else f", attempt {ordinal}"


_TABLE: dict[type, Callable[[Entry, Any, Name], str]] = {
    TurnQueued: lambda _, p, __: f"queued: “{short(p.input.text)}”",
    RunClaimed: lambda e, _, __: f"a run takes it (epoch {e.epoch})",
    InputSteered: lambda _, p, __: f"steered: “{short(p.message.text)}”",
    ModelRequested: lambda e, p, name: f"step {e.step}: {name(p.presence)} asks the model{_attempt(p.ordinal)}",
    ModelResponded: lambda e, p, _: f"step {e.step}: the model: {said(p.blocks)}",
    ModelInterrupted: lambda _, p, __: f"the model call ended: {p.reason}{_kept(p.partial)}",
    ModelFailed: lambda _, p, __: f"the model call failed ({p.failure}): {short(p.message)}",
    ToolStarted: lambda _, p, name: f"{name(p.presence)} starts {p.name}{_attempt(p.ordinal)}",
    ToolFinished: lambda _, p, __: f"{p.name}: {p.outcome}{_output(p.output)}",
    ToolReconciled: lambda _, p, __: f"{p.name}: its {p.by} settled it: {p.outcome}{_output(p.output)}",
    TurnPauseRequested: lambda _, p, __: f"pause requested (revision {p.revision})",
    TurnPaused: lambda _, p, __: f"paused (revision {p.revision})",
    TurnResumed: lambda _, p, __: f"resumed (revision {p.revision})",
    TurnCancelled: lambda _, __, ___: "cancelled",
    TurnCompleted: lambda _, __, ___: "completed",
    TurnFailed: lambda _, p, __: f"failed ({p.code}): {short(p.message)}",
}
