"""Messages as Anthropic has them.

Rule: a list of messages, or an object with `messages` and perhaps `system` in it. Thinking keeps its signature.
What only the provider's own servers did becomes words, with a note.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Final

from turnwright.journal.elsewhere.conversation import Conversation, listed, simple
from turnwright.journal.elsewhere.document import Place
from turnwright.journal.elsewhere.pairs import Sourced
from turnwright.journal.elsewhere.reading import Reading
from turnwright.journal.messages import Block, Media, Message, Role, Text, Thinking, ToolCall, ToolResult

PROVIDER: Final = "anthropic"
_ROLES: Final[Mapping[str, Role]] = {"user": "user", "assistant": "assistant", "system": "system"}
_KNOWN: Final = frozenset({"role", "content", "id", "type", "model", "stop_reason", "stop_sequence", "usage"})


def read(place: Place, reading: Reading) -> Conversation:
    """The conversation of a list of messages.

    Raises:
        InvalidInput: something in it is not what it should be; names the place.
    """
    said: list[Sourced] = []
    messages = Place(place.value, "messages")
    if isinstance(place.value, dict):
        for key in sorted(place.value.keys() - {"messages", "system"}):
            reading.note(key, "only the messages and `system` are taken along")
        messages, system = place.part("messages"), place.find("system")
        if system is not None:
            said.append(Sourced(Message(role="system", blocks=tuple(_blocks(system, reading))), system.path))
    for one in listed(messages):
        said += _messages(one, reading)
    return simple("anthropic", said, reading)


def _messages(place: Place, reading: Reading) -> Iterator[Sourced]:
    """A message: the results in it come first, as messages of their own."""
    said = place.part("role")
    role = _ROLES.get(said.text())
    if role is None:
        raise said.expected("user, assistant or system")
    for key in sorted(place.fields().keys() - _KNOWN):
        reading.note(place.part(key).path, "this is not read and left out")
    blocks = tuple(_blocks(place.part("content"), reading))
    for block in blocks:
        if isinstance(block, ToolResult):
            yield Sourced(Message(role="tool", blocks=(block,)), place.path)
    others = tuple(block for block in blocks if not isinstance(block, ToolResult))
    if others:
        yield Sourced(Message(role=role, blocks=others), place.path)


def _blocks(place: Place, reading: Reading) -> Iterator[Block]:
    if place.value is None or isinstance(place.value, str):
        if place.value and place.value.strip():
            yield Text(text=place.value)
        return
    for item in place.items():
        kind = item.part("type").text()
        if item.find("cache_control") is not None:
            reading.note(item.part("cache_control").path, "what is to be cached is Turnwright's to say; left out")
        reader = _BLOCKS.get(kind)
        if reader is None:
            yield reading.left_out(item.part("type"), f"[a block of the type {kind[:60]!r}, which is not read]")
        elif (found := reader(item, reading)) is not None:
            yield found


def _text(item: Place, reading: Reading) -> Block | None:
    if item.find("citations") is not None:
        reading.note(item.part("citations").path, "citations are left out")
    words = item.part("text").text()
    return Text(text=words) if words.strip() else None


def _thinking(item: Place, _: Reading) -> Block | None:
    words, signature = item.word("thinking") or "", item.word("signature")
    if not words and not signature:
        return None
    return Thinking(text=words, signature=signature, provider=PROVIDER if signature else None)


def _redacted(item: Place, reading: Reading) -> None:
    reading.note(item.path, "a thought that its provider encrypted is not taken along")


def _call(item: Place, _: Reading) -> Block:
    given = item.part("input")
    return ToolCall(
        id=item.part("id").text(),
        name=item.part("name").text(),
        arguments={} if given.value is None else given.fields(),
    )


def _result(item: Place, reading: Reading) -> Block:
    output = tuple(block for block in _blocks(item.part("content"), reading) if isinstance(block, Text | Media))
    call_id = item.part("tool_use_id").text()
    return ToolResult(id=call_id, name="", output=output, outcome="error" if item.flag("is_error") else "success")


def _file(item: Place, reading: Reading) -> Block | None:
    kind, source = item.part("type").text(), item.part("source")
    of = source.part("type").text()
    match of:
        case "base64":
            return reading.base64(source.part("data"), source.part("media_type").text())
        case "url":
            return reading.located(source.part("url"), "application/pdf" if kind == "document" else None, kind)
        case "text":
            return Text(text=source.part("data").text()) if source.part("data").text() else None
        case "content":
            words = [block.text for block in _blocks(source.part("content"), reading) if isinstance(block, Text)]
            return Text(text="\n".join(words)) if words else None
        case "file":
            return reading.left_out(source, f"[{kind}: a file that only its provider has]")
        case _:
            raise source.part("type").expected("base64, url, text, content or file")


_BLOCKS: Final[Mapping[str, Callable[[Place, Reading], Block | None]]] = {
    "text": _text,
    "thinking": _thinking,
    "redacted_thinking": _redacted,
    "tool_use": _call,
    "tool_result": _result,
    "image": _file,
    "document": _file,
}
