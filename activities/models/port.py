"""The port to a language model: one request, streamed, no retries.

Rule: a model call either returns a whole `ModelResponse` or raises `ModelFailure`, and whatever was
streamed before that stands in `Partial`. asyncio cancellation passes through at any moment.
Retries are counted in the journal, so nothing behind this port repeats a request by itself.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

from turnwright.journal.agents import ToolSpec
from turnwright.journal.canonical import repair_text
from turnwright.journal.deltas import Spoken
from turnwright.journal.entries.operation import FailureClass
from turnwright.journal.errors import TurnwrightError
from turnwright.journal.messages import Block, Message, Text, Thinking, Usage

__all__ = ["FailureClass", "Model", "ModelFailure", "ModelRequest", "ModelResponse", "Partial", "Words"]


@dataclass(frozen=True, slots=True)
class ModelRequest:
    """Everything one model call needs.

    `messages` is a view of the conversation, in which every call has its result (`journal.view`).
    `attempt` is the ordinal of this attempt within its step, from 1. `blobs` holds the bytes of the media in
    `messages`, by their SHA-256.
    """

    model: str
    instructions: str = ""
    messages: tuple[Message, ...] = ()
    tools: tuple[ToolSpec, ...] = ()
    settings: Mapping[str, Any] = field(default_factory=dict)
    base_url: str | None = None
    attempt: int = 1
    blobs: Mapping[str, bytes] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class ModelResponse:
    """A whole answer. `blobs` holds the bytes of media in `blocks`, to be stored with the entry."""

    blocks: tuple[Block, ...]
    usage: Usage
    finish_reason: str
    model: str
    blobs: Mapping[str, bytes] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Words:
    """What was added to a block of a response, by its place there."""

    index: int
    kind: Spoken
    text: str


class Partial:
    """What a call has said so far, so that a cancelled or failed one keeps its words.

    Tool calls are left out on purpose: one that was never whole was never decided, and a stored
    call without a result would be pending for ever.
    """

    def __init__(self, on_change: Callable[[Partial], None] | None = None) -> None:
        self._chunks: dict[int, list[str]] = {}
        self._kinds: dict[int, Spoken] = {}
        self._taken: dict[int, int] = {}
        self._halves: dict[int, str] = {}
        self._on_change = on_change
        self.usage = Usage()

    def extend(self, index: int, kind: Spoken, chunk: str) -> None:
        """Add a chunk to the block at that place of the response."""
        self._kinds.setdefault(index, kind)
        self._chunks.setdefault(index, []).append(chunk)
        if self._on_change is not None:
            self._on_change(self)

    def take(self) -> tuple[Words, ...]:
        """What was said since the last time, in the response's order."""
        return tuple(words for index in sorted(self._chunks) if (words := self._take(index)).text)

    def _take(self, index: int) -> Words:
        text = self._halves.pop(index, "") + "".join(self._chunks[index][self._taken.get(index, 0) :])
        self._taken[index] = len(self._chunks[index])
        if "\ud800" <= text[-1:] <= "\udbff":  # the first half of a character, which the next chunk ends
            text, self._halves[index] = text[:-1], text[-1]
        return Words(index, self._kinds[index], repair_text(text))

    @property
    def blocks(self) -> tuple[Block, ...]:
        """The blocks so far, in the response's order, without empty ones."""
        # Repaired when joined: a chunk may end between the halves of a character.
        joined = ((self._kinds[i], repair_text("".join(self._chunks[i]))) for i in sorted(self._chunks))
        return tuple(Text(text=text) if kind == "text" else Thinking(text=text) for kind, text in joined if text)

    @property
    def text(self) -> str:
        """The words of the answer so far, without the thinking."""
        return "".join(block.text for block in self.blocks if isinstance(block, Text))


class ModelFailure(TurnwrightError):
    """A model call that brought no answer; `failure` decides whether another attempt makes sense.

    `retry_after_s` is what the provider asked for, `usage` what the attempt is known to have cost.
    """

    def __init__(
        self,
        failure: FailureClass,
        message: str,
        *,
        retry_after_s: float | None = None,
        usage: Usage | None = None,
    ) -> None:
        super().__init__(message)
        self.failure: FailureClass = failure
        self.retry_after_s = retry_after_s
        self.usage = usage or Usage()


class Model(Protocol):
    """A language model, or a router to several."""

    async def respond(self, request: ModelRequest, partial: Partial) -> ModelResponse:
        """Answer the request, streaming into `partial`.

        Raises:
            ModelFailure: there is no answer; its class says why.
        """
        ...

    async def check(self, request: ModelRequest) -> None:
        """Find out whether the request can be sent at all, without sending it.

        Raises:
            ModelFailure: it cannot; what only the provider would refuse is not known yet.
        """
        ...

    async def aclose(self) -> None:
        """Give up connections; the model is not used afterwards."""
        ...
