"""From a turn's entries to the events of an AG-UI run.

Rule: a fold without I/O. Each entry gives the same events whenever it is read, ids included, so a turn can be told any
number of times, from any entry on; what an event of the protocol cannot say (a message that changed) is a `Restate`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

from ag_ui.core import (
    BaseEvent,
    StateDeltaEvent,
    StateSnapshotEvent,
    StepFinishedEvent,
    StepStartedEvent,
    TokenUsage,
    ToolCallResultEvent,
)

from turnwright.client.gateway.agui.messages import content_of
from turnwright.client.gateway.agui.speech import Speech, attempt_of
from turnwright.journal.agent_state import AgentState
from turnwright.journal.deltas import Delta
from turnwright.journal.durations import SECOND_US
from turnwright.journal.entries import (
    Entry,
    InputApplied,
    InputSteered,
    ModelFailed,
    ModelInterrupted,
    ModelRequested,
    ModelResponded,
    PermissionsChanged,
    PlanChanged,
    StateUpdated,
    TasksChanged,
    ToolDecided,
    ToolFinished,
    ToolReconciled,
    ToolsChanged,
    ToolStarted,
)
from turnwright.journal.messages import Block, Media, Text, Usage

SHARED = ("permissions", "plan", "tasks", "tools")
MILLISECOND_US = SECOND_US // 1_000
_IN_A_STEP = (ModelRequested, ModelResponded, ToolStarted, ToolFinished, ToolReconciled)
# An attempt that ended so leaves its call open.
_ATTEMPT_ONLY = frozenset({"lost", "drained", "deferred"})


@dataclass(frozen=True, slots=True)
class Restate:
    """The messages are to be told anew as of the entry `through_seq`; `if_new`: unless they were told so before."""

    through_seq: int
    if_new: bool = False


Told: TypeAlias = BaseEvent | Restate


class TurnFold:
    """A turn's entries behind `after_seq`, taken in one by one. Without `parts` a result is text only."""

    def __init__(self, after_seq: int, *, parts: bool = True) -> None:
        self._heard_seq = after_seq
        self._parts = parts
        self._missed = False
        self._step: str | None = None
        self._speech = Speech()
        self._model = ""
        self._answered: set[str] = set()
        self._used: dict[str, Usage] = {}

    def add(self, entry: Entry) -> list[Told]:
        """The events of the next entry."""
        self._missed |= entry.seq > self._heard_seq + 1
        self._heard_seq = entry.seq
        self._count(entry)
        told = [*self._stepped(entry), *self._told(entry)]
        for event in told:
            if isinstance(event, BaseEvent):
                event.timestamp = entry.at_us // MILLISECOND_US
        return told

    def hear(self, delta: Delta) -> list[Told]:
        """The events of some words of a running model call."""
        told: list[Told] = []
        attempt = attempt_of(delta)
        if attempt != self._speech.entry_id:
            told += self._drop()
            self._speech = Speech(attempt)
        return [*told, *self._speech.hear(delta)]

    def close(self) -> list[BaseEvent]:
        """What closes what is open, before the run ends."""
        return [*self._speech.stop(), *self._leave_step()]

    @property
    def usage(self) -> list[TokenUsage] | None:
        """What the model calls among these entries used, by model; None: nothing that is known."""
        return [_tokens(model, used) for model, used in self._used.items()] or None

    def _count(self, entry: Entry) -> None:
        match entry.payload:
            case ModelRequested(model=model):
                self._model = model
            case ModelResponded(usage=usage) | ModelFailed(usage=usage) | ModelInterrupted(usage=usage):
                named = getattr(entry.payload, "model", "") or self._model
                if usage != Usage():
                    self._used[named] = self._used.get(named, Usage()) + usage

    def _stepped(self, entry: Entry) -> Iterator[Told]:
        name = f"step {entry.step}"
        if entry.step is None or not isinstance(entry.payload, _IN_A_STEP) or name == self._step:
            return
        yield from self._leave_step()
        self._step = name
        yield StepStartedEvent(step_name=name)

    def _leave_step(self) -> Iterator[BaseEvent]:
        left, self._step = self._step, None
        if left is not None:
            yield StepFinishedEvent(step_name=left)

    def _told(self, entry: Entry) -> Iterator[Told]:
        match entry.payload:
            case InputSteered():
                self._missed = True
            case InputApplied() if self._missed:
                self._missed = False
                yield Restate(entry.seq, if_new=True)
            case ModelResponded(blocks=blocks):
                yield from self._answer(entry, blocks)
            case ModelInterrupted(reason="cancelled", partial=partial):
                yield from self._answer(entry, partial)
            case ModelFailed() | ModelInterrupted():
                yield from self._drop()
            case ToolDecided(arguments=arguments) if arguments is not None:
                yield Restate(entry.seq)
            case ToolFinished(outcome=outcome) as finished if outcome not in _ATTEMPT_ONLY:
                yield from self._result(entry, finished.call_id, outcome, finished.output)
            case ToolReconciled(outcome="succeeded" | "failed" as outcome) as settled:
                word = "success" if outcome == "succeeded" else "error"
                yield from self._result(entry, settled.call_id, word, settled.output)
            case payload:
                yield from _state_change(payload)

    def _answer(self, entry: Entry, blocks: tuple[Block, ...]) -> Iterator[Told]:
        spoken, self._speech = self._speech, Speech(entry.entry_id)
        if not spoken.begun:
            yield from self._speech.finish(blocks)
        elif spoken.leads_to(entry.entry_id, blocks):
            yield from spoken.finish(blocks)
        else:
            yield from spoken.stop()
            yield Restate(entry.seq)

    def _drop(self) -> Iterator[Told]:
        """What was told of an attempt is no answer, and is told anew without it."""
        if self._speech.begun:
            yield from self._speech.stop()
            yield Restate(self._heard_seq)

    def _result(self, entry: Entry, call_id: str, outcome: str, output: tuple[Text | Media, ...]) -> Iterator[Told]:
        if call_id in self._answered:
            return
        self._answered.add(call_id)
        yield ToolCallResultEvent(
            message_id=entry.entry_id,
            tool_call_id=call_id,
            content=content_of(output, parts=self._parts),
            role="tool",
            metadata=None if outcome == "success" else {"turnwright": {"outcome": outcome}},
        )


def shared_state(state: AgentState) -> StateSnapshotEvent:
    """What of an agent's state a front end is shown beside the messages."""
    return StateSnapshotEvent(snapshot=state.model_dump(mode="json", include={*SHARED, "extra"}))


def _state_change(payload: object) -> Iterator[BaseEvent]:
    changed = _CHANGES.get(type(payload))
    values = {} if changed is None else changed(payload)
    if values:
        patch = [{"op": "replace", "path": f"/{name}", "value": value} for name, value in values.items()]
        yield StateDeltaEvent.model_validate({"delta": patch})


_CHANGES: Mapping[type, Callable[[Any], Mapping[str, Any]]] = {
    PermissionsChanged: lambda p: {"permissions": p.permissions.model_dump(mode="json")},
    PlanChanged: lambda p: {"plan": p.plan.model_dump(mode="json")},
    TasksChanged: lambda p: {"tasks": p.tasks.model_dump(mode="json")},
    ToolsChanged: lambda p: {"tools": list(p.groups)},
    StateUpdated: lambda p: {name: value for name, value in p.changes.items() if name in SHARED},
}


def _tokens(model: str, used: Usage) -> TokenUsage:
    return TokenUsage(
        model=model or None,
        input_tokens=used.input_tokens,
        output_tokens=used.output_tokens,
        total_tokens=used.total_tokens,
        cached_input_tokens=used.cache_read_tokens or None,
        cache_write_input_tokens=used.cache_write_tokens or None,
    )
