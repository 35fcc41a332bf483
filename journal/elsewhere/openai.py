"""Chat messages as OpenAI and those who follow it have them.

Rule: a list of messages, or an object with `messages` in it. What says nothing of the conversation (audio of an
answer, ids of files that only their provider has) becomes words, with a note.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final

from turnwright.journal.elsewhere.conversation import Conversation, listed, simple
from turnwright.journal.elsewhere.document import Place
from turnwright.journal.elsewhere.pairs import Sourced
from turnwright.journal.elsewhere.reading import Reading, read_arguments
from turnwright.journal.messages import Block, Media, Message, Role, Text, Thinking, ToolCall, ToolResult

_ROLES: Final[Mapping[str, Role]] = {
    "system": "system", "developer": "system", "user": "user", "assistant": "assistant", "tool": "tool",
    "function": "tool",
}  # fmt: skip
_KNOWN: Final = frozenset(
    {
        "role", "content", "name", "tool_calls", "tool_call_id", "function_call", "refusal", "reasoning_content",
        "reasoning", "audio", "annotations", "id", "index",
    }
)  # fmt: skip
_SOUNDS: Final = {"wav": "audio/wav", "mp3": "audio/mpeg"}


def read(place: Place, reading: Reading) -> Conversation:
    """The conversation of a list of chat messages.

    Raises:
        InvalidInput: something in it is not what it should be; names the place.
    """
    if isinstance(place.value, dict):
        for key in sorted(place.value.keys() - {"messages"}):
            reading.note(key, "only the messages are taken along")
        place = place.part("messages")
    else:
        place = Place(place.value, "messages")
    functions = _Functions()
    said = [Sourced(_message(one, reading, functions), one.path, n) for n, one in enumerate(listed(place))]
    return simple("openai", said, reading)


class _Functions:
    """Calls of the time before they had ids: the result is that of the last call of its name."""

    def __init__(self) -> None:
        self._calls = 0
        self._last: dict[str, str] = {}

    def call(self, name: str) -> str:
        """The id of a call."""
        self._calls += 1
        self._last[name] = f"function-{self._calls}"
        return self._last[name]

    def result(self, name: str) -> str:
        """The id of the call that a result belongs to."""
        return self._last.pop(name, "")


def _message(place: Place, reading: Reading, functions: _Functions) -> Message:
    said = place.part("role")
    role = _ROLES.get(said.text())
    if role is None:
        raise said.expected(f"one of {', '.join(_ROLES)}")
    for key in sorted(place.fields().keys() - _KNOWN):
        reading.note(place.part(key).path, "this is not read and left out")
    content = tuple(_content(place.part("content"), reading))
    if role == "tool":
        return Message(role=role, blocks=(_result(place, content, functions),))
    if role == "assistant":
        content = (*_thinking(place), *content, *_refusal(place, reading), *_calls(place, functions))
        if place.find("audio") is not None:
            reading.note(place.part("audio").path, "what was spoken is not taken along, only its words")
    return Message(role=role, blocks=content, name=place.word("name"))


def _content(place: Place, reading: Reading) -> Iterator[Block]:
    if place.value is None or isinstance(place.value, str):
        if place.value and place.value.strip():
            yield Text(text=place.value)
        return
    for part in place.items():
        kind = part.part("type").text()
        reader = _PARTS.get(kind)
        if reader is None:
            yield reading.left_out(part.part("type"), f"[a part of the type {kind[:60]!r}, which is not read]")
        else:
            found = reader(part, reading)
            if not isinstance(found, Text) or found.text.strip():
                yield found


def _text(part: Place, _: Reading) -> Block:
    return Text(text=part.part("text").text())


def _refused(part: Place, reading: Reading) -> Block:
    reading.note(part.path, "a refusal is taken along as text")
    return Text(text=part.part("refusal").text())


def _image(part: Place, reading: Reading) -> Block:
    image = part.part("image_url")
    return reading.located(image if isinstance(image.value, str) else image.part("url"), None, "image")


def _sound(part: Place, reading: Reading) -> Block:
    sound = part.part("input_audio")
    kind = sound.part("format").text()
    return reading.base64(sound.part("data"), _SOUNDS.get(kind, f"audio/{kind}"))


def _file(part: Place, reading: Reading) -> Block:
    file = part.part("file")
    data = file.find("file_data")
    if data is None:
        name = file.word("filename") or file.word("file_id") or "no name"
        return reading.left_out(file, f"[the file {name[:100]!r}, which only its provider has]")
    if data.text().startswith("data:"):
        return reading.located(data, None, "file")
    return reading.base64(data, "application/pdf")


_PARTS: Final[Mapping[str, Callable[[Place, Reading], Block]]] = {
    "text": _text,
    "input_text": _text,
    "output_text": _text,
    "refusal": _refused,
    "image_url": _image,
    "input_audio": _sound,
    "file": _file,
}


def _thinking(place: Place) -> Iterator[Block]:
    words = next((found for key in ("reasoning_content", "reasoning") if (found := place.find(key)) is not None), None)
    if words is not None and words.text():
        yield Thinking(text=words.text())


def _refusal(place: Place, reading: Reading) -> Iterator[Block]:
    refusal = place.word("refusal")
    if refusal:
        reading.note(place.part("refusal").path, "a refusal is taken along as text")
        yield Text(text=refusal)


def _calls(place: Place, functions: _Functions) -> Iterator[ToolCall]:
    calls = place.find("tool_calls")
    for one in calls.items() if calls is not None else ():
        custom = one.find("custom")
        if custom is not None:
            given = {"input": custom.word("input") or ""}
            yield ToolCall(id=one.word("id") or "", name=custom.part("name").text(), arguments=given)
            continue
        yield _call(one.part("function"), one.word("id") or "")
    old = place.find("function_call")
    if old is not None:
        yield _call(old, functions.call(old.part("name").text()))


def _call(function: Place, call_id: str) -> ToolCall:
    name, given = function.part("name").text(), function.part("arguments")
    if isinstance(given.value, dict):
        return ToolCall(id=call_id, name=name, arguments=given.value)
    text = given.text() if given.value is not None else ""
    arguments = read_arguments(text) if text else {}
    if arguments is None:
        return ToolCall(id=call_id, name=name, malformed=text)
    return ToolCall(id=call_id, name=name, arguments=arguments)


def _result(place: Place, content: tuple[Block, ...], functions: _Functions) -> ToolResult:
    name = place.word("name") or ""
    call_id = functions.result(name) if place.part("role").value == "function" else place.word("tool_call_id")
    output: tuple[Any, ...] = tuple(block for block in content if isinstance(block, Text | Media))
    return ToolResult(id=call_id or "", name=name, output=output)
