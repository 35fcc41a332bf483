"""Calls and results in pairs, whatever was lost.

Rule: after every assistant message with calls comes one tool message with exactly one result for each
of them, in their order; no result stands anywhere else, and no id is used twice. Providers refuse a
whole conversation over one unpaired id, so this holds for every view, also of a turn cut half-way.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from turnwright.journal.messages import Block, Message, ToolCall, ToolResult

_DEFINITE = frozenset({"success", "error", "denied"})


def paired(messages: Sequence[Message]) -> tuple[Message, ...]:
    """The messages with every call answered directly behind it; a call without a result gets `unknown`.

    Of several results for one call the first definite one is taken; a result without a call before it
    is dropped.
    """
    distinct = list(_with_distinct_ids(messages))
    results = _results(distinct)
    view: list[Message] = []
    for message in distinct:
        blocks = tuple(block for block in message.blocks if not isinstance(block, ToolResult))
        if not blocks:
            continue
        view.append(message.model_copy(update={"blocks": blocks}))
        answers = tuple(results.get(call.id) or _lost(call) for call in message.calls)
        if answers:
            view.append(Message(role="tool", blocks=answers))
    return tuple(view)


def distinct_id(wanted: str, taken: set[str]) -> str:
    """The wanted id, or the first free one made from it; it is taken from then on."""
    base, number, chosen = wanted or "call", 2, wanted or "call-1"
    while chosen in taken:
        chosen, number = f"{base}-{number}", number + 1
    taken.add(chosen)
    return chosen


def _with_distinct_ids(messages: Iterable[Message]) -> Iterator[Message]:
    # Some local servers number their calls from 0 in every response: a result belongs to the latest.
    taken: set[str] = set()
    latest: dict[str, str] = {}

    def renamed(message: Message) -> Iterator[Block]:
        for block in message.blocks:
            if isinstance(block, ToolCall):
                if message.role == "assistant":
                    latest[block.id] = distinct_id(block.id, taken)
                    yield block.model_copy(update={"id": latest[block.id]})
            elif isinstance(block, ToolResult):
                if block.id in latest:
                    yield block.model_copy(update={"id": latest[block.id]})
            else:
                yield block

    for message in messages:
        yield message.model_copy(update={"blocks": tuple(renamed(message))})


def _results(messages: Iterable[Message]) -> dict[str, ToolResult]:
    chosen: dict[str, ToolResult] = {}
    for message in messages:
        for result in message.results:
            known = chosen.get(result.id)
            if known is None or (known.outcome not in _DEFINITE and result.outcome in _DEFINITE):
                chosen[result.id] = result
    return chosen


def _lost(call: ToolCall) -> ToolResult:
    return ToolResult(id=call.id, name=call.name, outcome="unknown")
