"""Blocks of AgentScope's messages as ours, and back.

Rule: a table from a block's type to its reader. Both dialects are read everywhere; `java` and `python` differ in how
calls, files and states are written.
"""

from __future__ import annotations

import base64
from collections.abc import Callable, Collection, Mapping
from typing import Any, Final, Literal, TypeAlias

from turnwright.journal.canonical import encode
from turnwright.journal.elsewhere.document import Place
from turnwright.journal.elsewhere.reading import Reading, read_arguments
from turnwright.journal.messages import Block, Denier, Media, Outcome, Text, Thinking, ToolCall, ToolResult

Dialect: TypeAlias = Literal["java", "python"]
ANTHROPIC: Final = "anthropic"
GONE: Final = "[{mime}: the file is no longer stored]"
_STATES: Final[Mapping[str, Outcome]] = {
    "success": "success", "error": "error", "denied": "denied", "interrupted": "interrupted", "running": "interrupted",
}  # fmt: skip
_WRITTEN_STATES: Final[Mapping[Outcome, str]] = {
    "success": "success", "error": "error", "denied": "denied", "interrupted": "interrupted", "unknown": "interrupted",
}  # fmt: skip
_KINDS: Final = ("image", "audio", "video")


def read_block(place: Place, reading: Reading) -> tuple[Block, ...]:
    """What a block is here: of a hint all it holds, of an empty one nothing. Raises `InvalidInput`."""
    kind = place.part("type").text()
    reader = _READERS.get(kind)
    if reader is None:
        return (reading.left_out(place.part("type"), f"[a block of the type {kind[:60]!r}, which is not read]"),)
    return reader(place, reading)


def written_block(
    block: Block, dialect: Dialect, answered: Collection[str], blobs: Mapping[str, bytes]
) -> dict[str, Any]:
    """A block of ours as AgentScope has it; `answered` has the ids of the calls with a result."""
    match block:
        case Text():
            return {"type": "text", "text": block.text}
        case Thinking():
            signed = dialect == "python" and block.provider == ANTHROPIC and block.signature is not None
            return {"type": "thinking", "thinking": block.text} | ({"signature": block.signature} if signed else {})
        case ToolCall():
            return _written_call(block, dialect, "finished" if block.id in answered else "pending")
        case ToolResult():
            output = [written_block(one, dialect, answered, blobs) for one in block.output]
            state = _WRITTEN_STATES[block.outcome]
            return {"type": "tool_result", "id": block.id, "name": block.name, "output": output, "state": state}
        case Media():
            return _written_file(block, dialect, blobs)


def _text(place: Place, _: Reading) -> tuple[Block, ...]:
    words = place.word("text")
    return (Text(text=words),) if words and words.strip() else ()


def _thinking(place: Place, reading: Reading) -> tuple[Block, ...]:
    if place.find("redacted_thinking_data") is not None:
        reading.note(place.path, "a thought that its provider encrypted is not taken along")
        return ()
    words, signature = place.word("thinking") or "", place.word("signature")
    if not words and not signature:
        return ()
    return (Thinking(text=words, signature=signature, provider=ANTHROPIC if signature else None),)


def _call(place: Place, _: Reading) -> tuple[Block, ...]:
    call_id, name = place.word("id") or "", place.part("name").text()
    given = place.part("input")
    text = given.value if isinstance(given.value, str) else None
    if text is None and not given.value:
        text = place.word("content")
    if text:
        arguments = read_arguments(text)
        if arguments is None:
            return (ToolCall(id=call_id, name=name, malformed=text),)
        return (ToolCall(id=call_id, name=name, arguments=arguments),)
    return (ToolCall(id=call_id, name=name, arguments={} if not given.value else given.fields()),)


def _result(place: Place, reading: Reading) -> tuple[Block, ...]:
    call_id, name, output = place.word("id") or "", place.word("name") or "", place.part("output")
    blocks: tuple[Block, ...] = ()
    if isinstance(output.value, str):
        blocks = (Text(text=output.value),) if output.value else ()
    elif output.value is not None:
        items = [item for item in output.items() if item.value is not None]
        blocks = tuple(block for item in items for block in read_block(item, reading))
    held = tuple(block for block in blocks if isinstance(block, Text | Media))
    if len(held) < len(blocks):
        reading.note(output.path, "only texts and files of a result are taken along")
    outcome = _state(place, reading)
    by: Denier = "rule" if outcome == "denied" and held else "person"
    return (ToolResult(id=call_id, name=name, output=held, outcome=outcome, by=by),)


def _state(place: Place, reading: Reading) -> Outcome:
    said = place.word("state")
    outcome = "success" if said is None else _STATES.get(said.lower())
    if outcome is None:
        raise place.part("state").expected(f"one of {', '.join(_STATES)}")
    if said is not None and said.lower() == "running":
        reading.note(place.path, "the call still ran: it counts as interrupted")
    return outcome


def _file(place: Place, reading: Reading) -> tuple[Block, ...]:
    kind, source = place.part("type").text(), place.part("source")
    what = kind if kind in _KINDS else "file"
    match source.part("type").text():
        case "base64":
            mime = source.part("media_type").text()
            return (reading.base64(source.part("data"), mime),)
        case "url":
            mime_given = source.word("media_type") or source.word("mime_type")
            return (reading.located(source.part("url"), mime_given, what),)
        case _:
            raise source.part("type").expected("base64 or url")


def _hint(place: Place, reading: Reading) -> tuple[Block, ...]:
    hint = place.part("hint")
    if hint.value is None or isinstance(hint.value, str):
        return (Text(text=hint.value),) if hint.value else ()
    return tuple(block for item in hint.items() for block in read_block(item, reading))


_READERS: Final[Mapping[str, Callable[[Place, Reading], tuple[Block, ...]]]] = {
    "text": _text,
    "thinking": _thinking,
    "tool_use": _call,
    "tool_call": _call,
    "tool_result": _result,
    "image": _file,
    "audio": _file,
    "video": _file,
    "data": _file,
    "hint": _hint,
}


def _written_call(call: ToolCall, dialect: Dialect, state: str) -> dict[str, Any]:
    text = encode(call.arguments).decode() if call.malformed is None else call.malformed
    if dialect == "python":
        return {"type": "tool_call", "id": call.id, "name": call.name, "input": text, "state": state}
    raw = {} if call.malformed is None else {"content": call.malformed}
    return {"type": "tool_use", "id": call.id, "name": call.name, "input": call.arguments, "state": state} | raw


def _written_file(media: Media, dialect: Dialect, blobs: Mapping[str, bytes]) -> dict[str, Any]:
    source: dict[str, Any]
    if media.blob is not None:
        if media.blob not in blobs:
            return {"type": "text", "text": GONE.format(mime=media.mime)}
        source = {
            "type": "base64", "media_type": media.mime, "data": base64.b64encode(blobs[media.blob]).decode("ascii"),
        }  # fmt: skip
    else:
        source = {"type": "url", "url": media.url, "mime_type" if dialect == "java" else "media_type": media.mime}
    kind = media.mime.partition("/")[0]
    return {"type": kind if dialect == "java" and kind in _KINDS else "data", "source": source}
