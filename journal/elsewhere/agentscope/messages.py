"""Messages of AgentScope as ours, and back.

Rule: one of theirs may be several of ours: the Python AgentScope keeps calls, their results and the answer in one.
Which belong together, and what a message held beside what became of it, stands in the metadata of its first.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any, Final

from turnwright.journal.elsewhere.agentscope.blocks import Dialect, read_block, written_block
from turnwright.journal.elsewhere.difference import applied, difference
from turnwright.journal.elsewhere.document import Place
from turnwright.journal.elsewhere.pairs import BEGUN, REPAIRED, Sourced
from turnwright.journal.elsewhere.reading import Reading
from turnwright.journal.messages import Block, Message, Role, ToolCall, ToolResult

# The metadata of ours that hold what AgentScope had: `group` and `part` of `of`, `kept` blocks, `difference`.
THEIRS: Final = "agentscope"
# The metadata of a message of theirs that hold what AgentScope has no place for.
OURS: Final = "turnwright"
_ROLES: Final[Mapping[str, Role]] = {"user": "user", "assistant": "assistant", "system": "system", "tool": "tool"}


@dataclass(frozen=True, slots=True)
class Read:
    """A message of theirs: what it is here, which of that are hints, and the blocks that are nothing here, by place."""

    messages: tuple[Message, ...]
    hints: frozenset[int]
    kept: dict[str, Any]
    place: Place


def read_message(place: Place, reading: Reading) -> Read:
    """What a message is here. Raises `InvalidInput`."""
    said = place.part("role")
    role = _ROLES.get(said.text().lower())
    if role is None:
        raise said.expected("user, assistant, system or tool")
    pieces: list[tuple[Role, int, Block]] = []
    kept: dict[str, Any] = {}
    for n, item in enumerate(_content(place), start=1):
        blocks = () if item.value is None else read_block(item, reading)
        hint = n if item.value is not None and item.part("type").value == "hint" else 0
        pieces += [("user" if hint else _role(role, block), hint, block) for block in blocks]
        if not blocks:
            kept[str(n - 1)] = item.value
    time, name = place.find("timestamp") or place.find("created_at"), place.word("name")
    at = None if time is None else reading.time(time)
    said_by: dict[str, Any] = {"name": None if name in ("", role) else name, "at": at}
    made: list[Message] = []
    hints: set[int] = set()
    for (of, hint), found in groupby(pieces, key=lambda piece: piece[:2]):
        blocks = tuple(block for _, __, block in found)
        if hint:
            hints.add(len(made))
            made.append(Message(role=of, blocks=blocks, at=said_by["at"], metadata={"input": "injected"}))
        else:
            made.append(Message(role=of, blocks=blocks, **said_by))
    messages = tuple(made) or (Message(role=role, **said_by),)
    return Read(_ours(messages, place), frozenset(hints), kept, place)


def _content(place: Place) -> list[Place]:
    content = place.part("content")
    if isinstance(content.value, str):
        return [Place({"type": "text", "text": content.value}, content.path)]
    return [] if content.value is None else content.items()


def _role(role: Role, block: Block) -> Role:
    if isinstance(block, ToolResult):
        return "tool"
    return "assistant" if isinstance(block, ToolCall) else role


def _ours(messages: tuple[Message, ...], place: Place) -> tuple[Message, ...]:
    """With what we had written beside them, if it was ours once."""
    metadata = place.part("metadata")
    change = metadata.value.get(OURS) if isinstance(metadata.value, dict) else None
    if change is None:
        return messages
    plain = applied(change, [plain_message(message) for message in messages])
    try:
        read = [Message.model_validate(one) for one in plain]
    except ValueError as error:
        raise metadata.part(OURS).wrong("this cannot be read; take it away, or export the thread anew") from error
    return tuple(map(without_theirs, read))


def without_theirs(message: Message) -> Message:
    """A message without what was kept of theirs."""
    return message.model_copy(update={"metadata": _without(message.metadata, THEIRS)})


def plain_message(message: Message) -> dict[str, Any]:
    """A message as JSON, without what its entry says of it and what is kept of theirs."""
    plain = message.model_dump(mode="json", exclude={"id", "seq"}, exclude_defaults=True)
    metadata = _without(message.metadata, THEIRS)
    return _without(plain, "metadata") | ({"metadata": metadata} if metadata else {})


def original(message: dict[str, Any]) -> dict[str, Any]:
    """A message of theirs without what we had written beside it."""
    metadata = message.get("metadata")
    return message | {"metadata": _without(metadata, OURS)} if isinstance(metadata, dict) else message


def _without(held: dict[str, Any], key: str) -> dict[str, Any]:
    return {name: value for name, value in held.items() if name != key} if key in held else held


def with_theirs(
    read: Read, held: Sequence[Sourced], dialect: Dialect, blobs: Mapping[str, bytes], repaired: Collection[str]
) -> list[Sourced]:
    """The messages of a group with what of the document would be lost without it."""
    marks: list[dict[str, Any]] = [{"group": one.group, "part": n, "of": len(held)} for n, one in enumerate(held)]
    for n in read.hints & set(range(len(held))):
        marks[n]["hint"] = True
    own = [_marked(one.message, mark) for one, mark in zip(held, marks, strict=True)]
    made = _with_kept(_written(own, dialect, {call.id for one in own for call in one.calls}, blobs), read.kept)
    change = difference(made, _settled(original(read.place.value), made, repaired))
    marks[0] |= {name: value for name, value in (("kept", read.kept), ("difference", change)) if value}
    return [Sourced(_marked(one.message, mark), one.place, one.group) for one, mark in zip(held, marks, strict=True)]


def _marked(message: Message, mark: dict[str, Any]) -> Message:
    return message.model_copy(update={"metadata": message.metadata | {THEIRS: mark}})


def _settled(theirs: dict[str, Any], made: dict[str, Any], repaired: Collection[str]) -> dict[str, Any]:
    """With the state of the calls that were given a result: the former would have AgentScope wait for ever."""
    content = theirs.get("content")
    if not isinstance(content, list) or len(content) != len(made["content"]):
        return theirs
    both = zip(content, made["content"], strict=True)
    said = [
        old | {"state": now["state"]} if isinstance(now, dict) and now.get("id") in repaired else old
        for old, now in both
    ]
    return theirs | {"content": said}


def written_messages(
    context: Sequence[Message], dialect: Dialect, blobs: Mapping[str, bytes]
) -> Iterator[tuple[list[Message], dict[str, Any]]]:
    """The messages as AgentScope has them, each with those of ours that it is made of."""
    answered = {result.id for message in context for result in message.results}
    for group in _groups([message for message in context if message.metadata.get(REPAIRED) != BEGUN]):
        mark = _mark(group[0])
        made = _written(group, dialect, answered, blobs)
        if mark.get("part") == 0 and len(group) == mark.get("of"):
            made = applied(mark.get("difference"), _with_kept(made, mark.get("kept", {})))
        elif mark:
            made |= {"id": group[0].id}
        yield group, made


def _mark(message: Message) -> dict[str, Any]:
    mark = message.metadata.get(THEIRS)
    return mark if isinstance(mark, dict) else {}


def _groups(context: Sequence[Message]) -> Iterator[list[Message]]:
    """Messages that were one: all of its parts in their order, but for repairs, which come behind them."""
    place = 0
    while place < len(context):
        group = [context[place]]
        mark = _mark(group[0])
        behind: list[Message] = []
        place += 1
        while mark.get("part") == 0 and place < len(context) and len(group) < mark["of"]:
            following = context[place]
            if REPAIRED in following.metadata:
                behind.append(following)
            elif _is_part(following, mark, len(group)):
                group.append(following)
            else:
                break
            place += 1
        yield group
        yield from ([one] for one in behind)


def _is_part(message: Message, first: dict[str, Any], part: int) -> bool:
    mark = _mark(message)
    return mark.get("group") == first["group"] and mark.get("part") == part


def _written(
    group: Sequence[Message], dialect: Dialect, answered: Collection[str], blobs: Mapping[str, bytes]
) -> dict[str, Any]:
    first = group[0]
    role = first.role if len(group) == 1 and not _mark(first).get("hint") else "assistant"
    if role == "tool" and dialect == "python":
        role = "assistant"
    content: list[Any] = []
    for message in group:
        blocks = [written_block(block, dialect, answered, blobs) for block in message.blocks]
        content += [{"type": "hint", "hint": _hinted(blocks)}] if _mark(message).get("hint") else blocks
    # The id of a message from there is theirs, and stands in the difference.
    made: dict[str, Any] = {
        "id": "" if _mark(first) else first.id,
        "name": first.name or role,
        "content": content,
        "metadata": {},
    }
    made["role"] = role if dialect == "python" else role.upper()
    return made | ({} if first.at is None else {"created_at" if dialect == "python" else "timestamp": first.at})


def _hinted(blocks: list[Any]) -> Any:  # noqa: ANN401 - any JSON value
    if len(blocks) == 1 and blocks[0].get("type") == "text":
        return blocks[0]["text"]
    return blocks


def _with_kept(made: dict[str, Any], kept: Mapping[str, Any]) -> dict[str, Any]:
    content = list(made["content"])
    for place in sorted(map(int, kept)):
        content.insert(place, kept[str(place)])
    return made | {"content": content}
