"""A turn from its submission to its answer, for who looks at it once: what it was asked, did, used and said.

Rule: it is counted from the entries, so it is the same for a turn that runs and for one of long ago.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from turnwright.client.views import TurnView
from turnwright.journal.acts import Act, act_of
from turnwright.journal.entries import (
    Entry,
    InputSteered,
    ModelLate,
    ModelRequested,
    ModelResponded,
    ToolLate,
    ToolStarted,
    TurnQueued,
)
from turnwright.journal.messages import Message, Usage
from turnwright.journal.why import Why

LATE = frozenset({ModelLate.TYPE, ToolLate.TYPE})


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnReport:
    """A turn at one moment, and all of it up to then.

    `input` and `submitted` are None if they were erased, `answer` is None if there is none (yet). `steered` are the
    messages that came later. `steps` counts model steps, the attempts count starts of model calls and of tool calls,
    and `usage` is that of all attempts. `late` are entries with what attempts brought after their step or call was
    settled: it was kept and not applied.
    """

    view: TurnView
    why: Why
    input: Message | None
    submitted: Act | None
    steered: tuple[Message, ...]
    steps: int
    model_attempts: int
    tool_attempts: int
    usage: Usage
    answer: Message | None
    late: tuple[Entry, ...] = ()


class Reading:
    """A turn's entries, read page by page; keeps what a report needs of them."""

    def __init__(self) -> None:
        self._queued: Entry | None = None
        self._steered: list[Message] = []
        self._said: dict[str, Message] = {}
        self._late: list[Entry] = []
        self._steps = self._models = self._tools = 0
        self._usage = Usage()

    def add(self, entries: Iterable[Entry]) -> None:
        """Take in the next page."""
        for entry in entries:
            self._add(entry)

    def report(self, view: TurnView, why: Why) -> TurnReport:
        """The report as of what was read."""
        queued = self._queued
        payload = None if queued is None else queued.payload
        return TurnReport(
            view=view,
            why=why,
            input=payload.input if isinstance(payload, TurnQueued) else None,
            submitted=None if queued is None else act_of(queued),
            steered=tuple(self._steered),
            steps=self._steps,
            model_attempts=self._models,
            tool_attempts=self._tools,
            usage=self._usage,
            answer=self._said.get(view.row.output_message or ""),
            late=tuple(self._late),
        )

    def _add(self, entry: Entry) -> None:
        payload = entry.payload
        usage = getattr(payload, "usage", None)
        if isinstance(usage, Usage):
            self._usage += usage
        self._steps = max(self._steps, entry.step or 0)
        if entry.type in LATE:
            self._late.append(entry)
        match payload:
            case TurnQueued():
                self._queued = entry
            case InputSteered(message=message):
                self._steered.append(message)
            case ModelRequested():
                self._models += 1
            case ToolStarted():
                self._tools += 1
            case ModelResponded():
                self._said = {entry.entry_id: answer_of(entry, payload)}  # only the last one can be the answer


def answer_of(entry: Entry, said: ModelResponded) -> Message:
    """What a model said as a message."""
    at = entry.when.isoformat()
    return Message(id=entry.entry_id, seq=entry.seq, role="assistant", blocks=said.blocks, at=at, usage=said.usage)
