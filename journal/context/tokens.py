"""How many tokens a request takes: as the provider counted the last one, estimated where it has not counted yet.

Rule: an estimate is a function of the text alone, so every worker comes to the same one.
"""

from __future__ import annotations

from collections.abc import Iterable

from turnwright.journal.agent_state import AgentState
from turnwright.journal.agents import ToolSpec
from turnwright.journal.briefing import briefing
from turnwright.journal.canonical import encode
from turnwright.journal.messages import Block, Media, Message, Text, Thinking, ToolCall

BYTES_PER_TOKEN = 4
# What a message takes beside its text, and what a picture takes: the largest of what providers document.
MESSAGE_TOKENS = 4
MEDIA_TOKENS = 1_600


def request_tokens(state: AgentState, recalled: str = "") -> int:
    """The tokens of the next request's messages, instructions and tools.

    What a provider counted is taken to hold already what is `recalled` from elsewhere.
    """
    since: list[Message] = []
    for message in reversed(state.context):
        if message.usage is not None and message.usage.total_tokens:
            return message.usage.total_tokens + tokens_of(since)
        since.append(message)
    return fixed_tokens(state, recalled) + tokens_of(since)


def fixed_tokens(state: AgentState, recalled: str = "") -> int:
    """Of what stands in every request, whatever was said: instructions, tools, the summary, the briefing."""
    agent = state.agent
    texts = ("" if agent is None else agent.instructions, state.summary, briefing(state, recalled))
    tools = () if agent is None else agent.tools
    return sum(map(text_tokens, texts)) + sum(map(_of_tool, tools))


def tokens_of(messages: Iterable[Message]) -> int:
    """Estimated for these messages."""
    return sum(message_tokens(message) for message in messages)


def message_tokens(message: Message) -> int:
    """Estimated for one message."""
    return MESSAGE_TOKENS + sum(map(_of_block, message.blocks))


def _of_block(block: Block) -> int:
    match block:
        case Text() | Thinking():
            return text_tokens(block.text)
        case Media():
            return MEDIA_TOKENS
        case ToolCall():
            return text_tokens(block.name) + _of_bytes(encode(block.arguments)) + text_tokens(block.malformed or "")
        case _:
            return text_tokens(block.name) + sum(map(_of_block, block.output))


def _of_tool(tool: ToolSpec) -> int:
    return text_tokens(tool.name) + text_tokens(tool.description) + _of_bytes(encode(tool.parameters))


def text_tokens(text: str) -> int:
    """Estimated for a text."""
    return _of_bytes(text.encode("utf-8", "surrogatepass"))


def _of_bytes(held: bytes) -> int:
    return -(-len(held) // BYTES_PER_TOKEN)
