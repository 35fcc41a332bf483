"""A model's answer as events: as it is spoken, and what is left to say when its entry is there.

Rule: what was told while the model spoke is only a look. If the entry says otherwise, or there is none in the end, the
messages are told anew; whoever listens ends up with what the journal has.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from ag_ui.core import (
    BaseEvent,
    ReasoningEndEvent,
    ReasoningMessageContentEvent,
    ReasoningMessageEndEvent,
    ReasoningMessageStartEvent,
    ReasoningStartEvent,
    TextMessageContentEvent,
    TextMessageEndEvent,
    TextMessageStartEvent,
    ToolCallArgsEvent,
    ToolCallEndEvent,
    ToolCallStartEvent,
)

from turnwright.client.gateway.agui.messages import arguments_of, reasoning_id, reasonings
from turnwright.journal import entry_ids
from turnwright.journal.deltas import Delta
from turnwright.journal.messages import Block, Text, ToolCall


def attempt_of(delta: Delta) -> str:
    """The id of the entry that the answer will be, if it becomes one."""
    return entry_ids.model(delta.turn_id, delta.step, delta.ordinal, "responded")


class Speech:
    """An answer that is told: `entry_id` is that of its entry, there already or to come."""

    def __init__(self, entry_id: str = "") -> None:
        self.entry_id = entry_id
        self._words = ""
        self._thoughts: list[str] = []
        self._thinking: int | None = None

    @property
    def begun(self) -> bool:
        """Whether anything was told."""
        return bool(self._words or self._thoughts)

    def hear(self, delta: Delta) -> Iterator[BaseEvent]:
        """Some more words of a running call."""
        if delta.kind == "thinking":
            yield from self._think(delta.index, delta.text)
        else:
            yield from self._stop_thinking()
            yield from self._say(delta.text)

    def leads_to(self, entry_id: str, blocks: Iterable[Block]) -> bool:
        """Whether what was told is how this answer begins."""
        held = tuple(blocks)
        thoughts, told = reasonings(held), self._thoughts
        if entry_id != self.entry_id or not _said(held).startswith(self._words) or len(told) > len(thoughts):
            return False
        closed = len(told) if self._thinking is None else len(told) - 1
        return told[:closed] == thoughts[:closed] and all(
            thoughts[n].startswith(told[n]) for n in range(closed, len(told))
        )

    def finish(self, blocks: Iterable[Block]) -> Iterator[BaseEvent]:
        """What of the answer was not told yet: its reasoning, its words, its calls."""
        held = tuple(blocks)
        thoughts = reasonings(held)
        if self._thinking is not None:
            yield from self._think(self._thinking, thoughts[len(self._thoughts) - 1][len(self._thoughts[-1]) :])
            yield from self._stop_thinking()
        for n in range(len(self._thoughts), len(thoughts)):
            yield from self._think(n, thoughts[n])
            yield from self._stop_thinking()
        yield from self._say(_said(held)[len(self._words) :])
        yield from self.stop()
        for call in held:
            if isinstance(call, ToolCall):
                yield from _called(self.entry_id, call)

    def stop(self) -> Iterator[BaseEvent]:
        """Nothing more is told of it."""
        yield from self._stop_thinking()
        if self._words:
            yield TextMessageEndEvent(message_id=self.entry_id)
        self._words, self._thoughts = "", []

    def _say(self, text: str) -> Iterator[BaseEvent]:
        if not text:
            return
        if not self._words:
            yield TextMessageStartEvent(message_id=self.entry_id, role="assistant")
        self._words += text
        yield TextMessageContentEvent(message_id=self.entry_id, delta=text)

    def _think(self, index: int, text: str) -> Iterator[BaseEvent]:
        if self._thinking != index:
            yield from self._stop_thinking()
            self._thinking = index
            self._thoughts.append("")
            yield ReasoningStartEvent(message_id=self._thought)
            yield ReasoningMessageStartEvent(message_id=self._thought, role="reasoning")
        if text:
            self._thoughts[-1] += text
            yield ReasoningMessageContentEvent(message_id=self._thought, delta=text)

    def _stop_thinking(self) -> Iterator[BaseEvent]:
        if self._thinking is not None:
            self._thinking = None
            yield ReasoningMessageEndEvent(message_id=self._thought)
            yield ReasoningEndEvent(message_id=self._thought)

    @property
    def _thought(self) -> str:
        return reasoning_id(self.entry_id, len(self._thoughts) - 1)


def _said(blocks: Iterable[Block]) -> str:
    return "".join(block.text for block in blocks if isinstance(block, Text))


def _called(entry_id: str, call: ToolCall) -> Iterator[BaseEvent]:
    yield ToolCallStartEvent(tool_call_id=call.id, tool_call_name=call.name, parent_message_id=entry_id)
    yield ToolCallArgsEvent(tool_call_id=call.id, delta=arguments_of(call))
    yield ToolCallEndEvent(tool_call_id=call.id)
