"""Calls and results of a conversation from elsewhere: each call with one result behind it, each id once.

Rule: what is repaired is visible in the conversation, and noted. Providers refuse a call without a result, a result
without a call, an id that is there twice, and ids of other characters than their own.
"""

from __future__ import annotations

import re
from collections import defaultdict, deque
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from turnwright.journal.elsewhere.reading import Reading
from turnwright.journal.messages import Block, Media, Message, Text, ToolCall, ToolResult

UNANSWERED = (
    "This call had no result when the conversation was brought here from elsewhere. It counts as interrupted; "
    "whether it had an effect is not known."
)
UNASKED = "[A result{tool} whose call is not in this conversation]"
BEGINNING = "[What was said before this is not part of this conversation.]"
# The metadata of a message that a repair added.
REPAIRED: Final = "repaired"
BEGUN: Final = "begun"
_ID = re.compile(r"[A-Za-z0-9_-]{1,40}")
_OTHERS = re.compile(r"[^A-Za-z0-9_-]")
_ID_CHARACTERS_KEPT = 30


@dataclass(slots=True)
class Sourced:
    """A message, and where it stands in the document."""

    message: Message
    place: str
    group: int = 0


@dataclass(slots=True)
class _Asked:
    """A call that waits for its result: the id it came with, and which message asked for it."""

    wanted: str
    call: ToolCall
    asker: int


@dataclass(slots=True)
class _Pairs:
    reading: Reading
    taken: set[str] = field(default_factory=set)
    numbers: dict[str, int] = field(default_factory=lambda: defaultdict(lambda: 1))
    waiting: dict[str, deque[_Asked]] = field(default_factory=lambda: defaultdict(deque))
    done: list[Sourced] = field(default_factory=list)
    last_result: dict[int, int] = field(default_factory=dict)

    def add(self, said: Sourced) -> None:
        """Take in the next message."""
        blocks: list[Block] = []
        asked: list[_Asked] = []
        unasked: list[Text | Media] = []
        for block in said.message.blocks:
            match block:
                case ToolCall():
                    call = block.model_copy(update={"id": self._free(block.id)})
                    asked.append(_Asked(block.id, call, len(self.done)))
                    blocks.append(call)
                case ToolResult():
                    result = self._answer(block, said)
                    if isinstance(result, ToolResult):
                        blocks.append(result)
                    else:
                        unasked += result
                case _:
                    blocks.append(block)
        for one in asked:
            self.waiting[one.wanted].append(one)
        self._place(said, tuple(blocks), tuple(unasked))

    def _place(self, said: Sourced, blocks: tuple[Block, ...], unasked: tuple[Text | Media, ...]) -> None:
        if unasked and not blocks:
            metadata = said.message.metadata | {"input": "injected"}
            changes: dict[str, Any] = {"role": "user", "blocks": unasked, "metadata": metadata}
        else:
            changes = {"blocks": (*blocks, *unasked)}
        self.done.append(Sourced(said.message.model_copy(update=changes), said.place, said.group))

    def _answer(self, result: ToolResult, said: Sourced) -> ToolResult | Sequence[Text | Media]:
        """The result under its call's id; words, if nobody asked for it."""
        found = self.waiting.get(result.id)
        if not found:
            self.reading.note(said.place, f"a result without its call ({result.id[:100]!r}) is shown as text")
            return [
                Text(text=UNASKED.format(tool=f" of the tool {result.name}" if result.name else "")),
                *result.output,
            ]
        asked = found.popleft()
        self.last_result[asked.asker] = len(self.done)
        return result.model_copy(update={"id": asked.call.id, "name": asked.call.name})

    def _free(self, wanted: str) -> str:
        """An id that every provider takes and no other call has."""
        base = wanted if _ID.fullmatch(wanted) else _OTHERS.sub("_", wanted)[:_ID_CHARACTERS_KEPT] or "call"
        chosen = base
        while chosen in self.taken:
            self.numbers[base] += 1
            chosen = f"{base[:_ID_CHARACTERS_KEPT]}-{self.numbers[base]}"
        self.taken.add(chosen)
        return chosen

    def finish(self) -> list[Sourced]:
        """The messages, with a result for each call that has none."""
        missing = [asked for others in self.waiting.values() for asked in others]
        behind: dict[int, list[Sourced]] = defaultdict(list)
        for asked in missing:
            place = self.last_result.get(asked.asker, asked.asker)
            before = self.done[asked.asker]
            self.reading.note(
                before.place, f"the call {asked.wanted[:100]!r} of {asked.call.name} had no result: it is interrupted"
            )
            result = ToolResult(
                id=asked.call.id, name=asked.call.name, output=(Text(text=UNANSWERED),), outcome="interrupted"
            )
            made = Message(role="tool", blocks=(result,), metadata={REPAIRED: "unanswered"})
            behind[place].append(Sourced(made, before.place, -1))
        return [one for n, said in enumerate(self.done) for one in (said, *behind[n])]


def paired(messages: Iterable[Sourced], reading: Reading) -> list[Sourced]:
    """The messages with calls and results in pairs; what was done about it is noted."""
    pairs = _Pairs(reading)
    for said in messages:
        pairs.add(said)
    return _begun(pairs.finish(), reading)


def _begun(said: list[Sourced], reading: Reading) -> list[Sourced]:
    """With somebody else's word before the first of the agent: some providers refuse a conversation without one."""
    first = next((n for n, one in enumerate(said) if one.message.role != "system" and one.message.blocks), None)
    if first is None or said[first].message.role == "user":
        return said
    reading.note(said[first].place, "the conversation begins with its agent: a line in front of it says so")
    metadata = {REPAIRED: BEGUN, "input": "injected"}
    made = Message(role="user", blocks=(Text(text=BEGINNING),), metadata=metadata)
    return [*said[:first], Sourced(made, said[first].place, -1), *said[first:]]
