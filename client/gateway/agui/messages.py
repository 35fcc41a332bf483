"""Messages of a conversation as AG-UI has them, and a person's message as the journal has it.

Rule: the journal's history is the truth. A front end's id of a message of its own is kept with it, so that a snapshot
names the message as the front end does; everything else is named by its entry.
"""

from __future__ import annotations

import mimetypes
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from ag_ui import core
from ag_ui.core import (
    AssistantMessage,
    AudioPart,
    ContentPart,
    Context,
    DataSource,
    DocumentPart,
    FunctionCall,
    ImagePart,
    MessagesSnapshotEvent,
    ReasoningMessage,
    SystemMessage,
    TextPart,
    ToolMessage,
    UrlSource,
    UserMessage,
    VideoPart,
)

from turnwright.journal.agent_state import AgentState
from turnwright.journal.canonical import encode
from turnwright.journal.entries import ContextCleared, ContextCompacted, ContextOffloaded, Entry
from turnwright.journal.evolve_state import fold_state
from turnwright.journal.messages import Block, Media, Message, Text, Thinking, ToolCall, ToolResult
from turnwright.journal.view import SURROUNDINGS, shown_surroundings

MESSAGE_ID = "agui_message_id"
_PARTS: Mapping[str, type[ImagePart | AudioPart | VideoPart]] = {
    "image": ImagePart,
    "audio": AudioPart,
    "video": VideoPart,
}
# What they take out of the agent's sight has still been said, and a person goes on seeing it.
_OUT_OF_SIGHT = (ContextCleared, ContextCompacted, ContextOffloaded)


def with_said(state: AgentState, entries: Iterable[Entry]) -> AgentState:
    """The state with what these entries added to the conversation; nothing that was said goes from it."""
    return fold_state(state, (entry for entry in entries if not isinstance(entry.payload, _OUT_OF_SIGHT)))


def conversation(state: AgentState, turn_id: str) -> tuple[Message, ...]:
    """What was said, and what the turn will be asked when it starts."""
    return (*state.context, *(waiting.message for waiting in state.inbox if waiting.turn_id == turn_id))


def snapshot(messages: Iterable[Message], *, parts: bool = True) -> MessagesSnapshotEvent:
    """The messages of a conversation. Without `parts` words stand for files, for peers that take text only."""
    shown: dict[str, core.Message] = {}
    calls: set[str] = set()
    for message in messages:
        calls |= {call.id for call in message.calls}
        for made in _shown(message, calls, parts=parts):
            named = _free_id((made.id, message.id), shown)
            shown[named] = made.model_copy(update={"id": named})
    return MessagesSnapshotEvent(messages=list(shown.values()))


def name_of(message: Message) -> str:
    """The id under which a front end knows a message."""
    return str(message.metadata.get(MESSAGE_ID) or message.id)


def reasoning_id(entry_id: str, n: int) -> str:
    """The id of the `n`-th reasoning of a model's answer."""
    return f"{entry_id}/reasoning/{n}"


def arguments_of(call: ToolCall) -> str:
    """The arguments of a call as text: what the model wrote, if that was no object."""
    return encode(call.arguments).decode() if call.malformed is None else call.malformed


def content_of(blocks: Iterable[Block], *, parts: bool) -> str | list[ContentPart]:
    """Text, or parts if there are files with an address; where bytes are that only the journal has, it says so."""
    held = [block for block in blocks if isinstance(block, Text | Media)]
    if parts and any(isinstance(block, Media) and block.url is not None for block in held):
        return [_part(block) for block in held]
    return "".join(map(_words, held))


def reasonings(blocks: Iterable[Block]) -> list[str]:
    """The reasoning among the blocks of an answer; a block without words is none."""
    return [block.text for block in blocks if isinstance(block, Thinking) and block.text]


def as_input(message: UserMessage, surroundings: Sequence[Context] = ()) -> Message:
    """A person's message as it is journaled, with what the front end said of itself.

    Files that only a provider has are left out.
    """
    content = message.content
    blocks: Iterable[Text | Media | None]
    blocks = [Text(text=content)] if isinstance(content, str) else map(_block, content)
    kept = tuple(block for block in blocks if block is not None)
    metadata: dict[str, Any] = {MESSAGE_ID: message.id}
    if surroundings:
        metadata[SURROUNDINGS] = _held(surroundings)
    return Message(role="user", blocks=kept, name=message.name, metadata=metadata)


def as_surroundings(surroundings: Sequence[Context]) -> Message:
    """What the front end said of itself, when nobody said anything: no part of the conversation."""
    return Message(role="user", metadata={SURROUNDINGS: _held(surroundings)})


def are_shown(surroundings: Sequence[Context], messages: tuple[Message, ...]) -> bool:
    """Whether the model is shown just these now."""
    index = shown_surroundings(messages)
    return index is not None and messages[index].metadata[SURROUNDINGS] == _held(surroundings)


def _held(surroundings: Sequence[Context]) -> list[dict[str, str]]:
    return [{"description": one.description, "value": one.value} for one in surroundings]


def _shown(message: Message, calls: set[str], *, parts: bool) -> Iterator[core.Message]:
    match message.role:
        case "user" if message.blocks:
            yield UserMessage(id=name_of(message), content=content_of(message.blocks, parts=parts), name=message.name)
        case "system":
            yield SystemMessage(id=name_of(message), content=message.text, name=message.name)
        case "assistant":
            for n, text in enumerate(reasonings(message.blocks)):
                yield ReasoningMessage(id=reasoning_id(message.id, n), content=text)
            asked = [_call(call) for call in message.calls]
            if message.text or asked:
                yield AssistantMessage(id=message.id, content=message.text or None, tool_calls=asked or None)
        case "tool":
            yield from (_result(message, result, parts=parts) for result in message.results if result.id in calls)


def _call(call: ToolCall) -> core.ToolCall:
    return core.ToolCall(id=call.id, function=FunctionCall(name=call.name, arguments=arguments_of(call)))


def _result(message: Message, result: ToolResult, *, parts: bool) -> ToolMessage:
    return ToolMessage(
        id=message.id,
        tool_call_id=result.id,
        content=content_of(result.output, parts=parts),
        error=None if result.outcome == "success" else result.outcome,
    )


def _part(block: Text | Media) -> ContentPart:
    if isinstance(block, Text) or block.url is None:
        return TextPart(text=_words(block))
    kind = _PARTS.get(block.mime.partition("/")[0], DocumentPart)
    return kind(source=UrlSource(value=block.url, mime_type=block.mime))


def _words(block: Text | Media) -> str:
    return block.text if isinstance(block, Text) else f"[{block.mime}: the file is left out here]"


def _block(part: ContentPart) -> Text | Media | None:
    if isinstance(part, TextPart):
        return Text(text=part.text)
    source = part.source
    match source:
        case DataSource():
            return Media(mime=source.mime_type, url=f"data:{source.mime_type};base64,{source.value}")
        case UrlSource():
            guessed = source.mime_type or mimetypes.guess_type(source.value)[0]
            return Media(mime=guessed or f"{part.type}/*", url=source.value)
        case _:
            return None


def _free_id(wanted: tuple[str, ...], taken: Mapping[str, object]) -> str:
    """The first id that no message has yet: a front end may send one twice, and imported messages may have none."""
    return next((one for one in wanted if one and one not in taken), f"message-{len(taken)}")
