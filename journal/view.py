"""The view a model is sent, and the tools it is offered: functions of the state, never stored.

Rule: whatever was lost, every call in the view has exactly one result and every result a call that
comes before it. What was recorded is not changed; the view says it in words a model understands.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping

from turnwright.journal.agent_state import AgentState
from turnwright.journal.agents import ToolSpec
from turnwright.journal.briefing import briefing
from turnwright.journal.evolve_state import INTERRUPTED_TEXT
from turnwright.journal.messages import Block, Media, Message, Text, ToolCall, ToolResult

DENIED_VIEW = (
    "The user decided not to run this call. It is their choice, not a missing permission and not a fault; "
    "do not try it again unless they ask."
)
EDITED_VIEW = "Whoever approved this call changed its arguments; what stands in the call is what was run."
SURROUNDINGS_VIEW = "What the user's application shows as of this message, written by it and not by the user:"
REFUSED_VIEW = "[{mime}: a file that the model's provider refuses; it is left out]"
# The metadata of an input that hold it: what it is and its value, as {"description", "value"}, one each.
SURROUNDINGS = "surroundings"
# The id of the message the briefing stands in; as metadata it says that nobody wrote it.
BRIEFING = "briefing"


def request_messages(state: AgentState, without: Collection[str] = (), *, recalled: str = "") -> tuple[Message, ...]:
    """The messages of the next request: the summary of what was compacted, the paired context, the briefing.

    What an input's surroundings were when it came is shown beside it while it is the newest. Media that a provider has
    refused, and those that `without` names, are words.
    """
    summary = () if not state.summary else (_summary(state.summary),)
    briefed = briefing(state, recalled)
    context = without_media(_with_surroundings(state.context), {*state.refused_media, *without})
    return summary + paired(context) + ((_briefing(briefed),) if briefed else ())


def suspects(state: AgentState) -> tuple[str, ...]:
    """Media that may be why a request is refused: those no answer came after, or, if there are none, all."""
    answers = [index for index, message in enumerate(state.context) if message.role == "assistant"]
    for messages in (state.context[answers[-1] + 1 :] if answers else state.context, state.context):
        known = {block.ref: None for block in _media(messages) if block.ref not in state.refused_media}
        if known:
            return tuple(known)
    return ()


def without_media(context: tuple[Message, ...], refused: Collection[str]) -> tuple[Message, ...]:
    """The messages with words in place of the media named."""
    if not refused:
        return context
    return tuple(
        message.model_copy(update={"blocks": tuple(_in_words(block, refused) for block in message.blocks)})
        for message in context
    )


def offered_tools(state: AgentState) -> tuple[ToolSpec, ...]:
    """The tools the next request offers: those without a group, and those of the activated groups."""
    tools = () if state.agent is None else state.agent.tools
    return tuple(tool for tool in tools if tool.group is None or tool.group in state.tools)


def paired(context: tuple[Message, ...]) -> tuple[Message, ...]:
    """The messages with each call's result right behind the message that asked for it.

    Results are ordered as their calls; a missing one is said to be interrupted, one without a call (or
    a second one) is left out, and messages that become empty go with it.
    """
    results = _first_results(context)
    view: list[Message] = []
    seen: set[str] = set()
    for message in context:
        blocks = tuple(b for b in message.blocks if not isinstance(b, ToolResult) and not _again(b, seen))
        if blocks:
            view.append(message.model_copy(update={"blocks": blocks}))
        calls = [block for block in blocks if isinstance(block, ToolCall)]
        view += [_result_message(message, call, results) for call in calls]
    return tuple(view)


def _with_surroundings(context: tuple[Message, ...]) -> tuple[Message, ...]:
    """The context with what the program of its newest input showed; what earlier ones came with is over."""
    index = shown_surroundings(context)
    if index is None:
        return context
    message = context[index]
    shown = message.model_copy(update={"blocks": (*message.blocks, Text(text=_surroundings(message)))})
    return (*context[:index], shown, *context[index + 1 :])


def shown_surroundings(context: tuple[Message, ...]) -> int | None:
    """Which message's surroundings are shown to the model now: those of the newest input, if it brought any."""
    for index in reversed(range(len(context))):
        message = context[index]
        if message.role != "user":
            continue
        if _surroundings(message):
            return index
        if "input" not in message.metadata:
            break
    return None


def _surroundings(message: Message) -> str:
    held = message.metadata.get(SURROUNDINGS)
    known = [one for one in held if isinstance(one, dict)] if isinstance(held, list) else []
    lines = [f"- {one.get('description')}: {one.get('value')}" for one in known]
    return "\n".join([SURROUNDINGS_VIEW, *lines]) if lines else ""


def _media(messages: tuple[Message, ...]) -> Iterator[Media]:
    for message in messages:
        for block in message.blocks:
            within = block.output if isinstance(block, ToolResult) else (block,)
            yield from (held for held in within if isinstance(held, Media))


def _in_words(block: Block, refused: Collection[str]) -> Block:
    if isinstance(block, ToolResult):
        output = tuple(_said_of(held, refused) if isinstance(held, Media) else held for held in block.output)
        return block.model_copy(update={"output": output})
    return _said_of(block, refused) if isinstance(block, Media) else block


def _said_of(media: Media, refused: Collection[str]) -> Media | Text:
    return Text(text=REFUSED_VIEW.format(mime=media.mime)) if media.ref in refused else media


def _again(block: object, seen: set[str]) -> bool:
    # Marked as it goes: an id used twice within one message is as invalid as one used in two.
    if not isinstance(block, ToolCall):
        return False
    again = block.id in seen
    seen.add(block.id)
    return again


def _first_results(context: tuple[Message, ...]) -> Mapping[str, ToolResult]:
    results: dict[str, ToolResult] = {}
    for message in context:
        for result in message.results:
            results.setdefault(result.id, result)
    return results


def _result_message(asked_in: Message, call: ToolCall, results: Mapping[str, ToolResult]) -> Message:
    result = results.get(call.id)
    if result is None:
        text = (Text(text=INTERRUPTED_TEXT),)
        result = ToolResult(id=call.id, name=call.name, output=text, outcome="interrupted")
    result = result.model_copy(update={"output": (*_remarks(call, result), *_said(result))})
    return Message(id=f"{asked_in.id}/{call.id}", role="tool", blocks=(result,))


def _remarks(call: ToolCall, result: ToolResult) -> tuple[Text, ...]:
    """What a model must know about a call that people had a hand in. What a rule denied says so itself."""
    chosen = result.outcome == "denied" and result.by == "person"
    remarks = (DENIED_VIEW if chosen else "", EDITED_VIEW if call.edited else "")
    return tuple(Text(text=remark) for remark in remarks if remark)


def _said(result: ToolResult) -> tuple[Text | Media, ...]:
    denied = result.outcome == "denied"
    return tuple(block for block in result.output if not denied or isinstance(block, Text))


def _briefing(text: str) -> Message:
    return Message(id=BRIEFING, role="user", blocks=(Text(text=text),), metadata={"input": BRIEFING})


def _summary(text: str) -> Message:
    return Message(id="summary", role="user", blocks=(Text(text=f"Summary of the conversation so far:\n{text}"),))
