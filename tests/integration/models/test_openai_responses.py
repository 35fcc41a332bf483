"""A provider's own name (`openai:…`) speaks that provider's own protocol, whose pieces come back to it as they came."""

from dataclasses import replace

import pytest

from tests.integration.models.responses_peer import responses_peer
from turnwright.activities.models.port import ModelRequest, Partial
from turnwright.activities.models.router import Models
from turnwright.journal.agents import ToolSpec
from turnwright.journal.messages import Block, Message, Text, ToolCall, ToolResult, user

OURS = "ours-1-0"
LOOK = ToolSpec(name="look", description="Look.", parameters={"type": "object", "properties": {}})
REQUEST = ModelRequest("openai:gpt-5", "Be brief.", (user("Is the door closed?"),), tools=(LOOK,))


def stored(block: Block) -> Block:
    """As the journal keeps it: a call under an id of its own."""
    return block.model_copy(update={"id": OURS}) if isinstance(block, ToolCall) else block


async def test_a_call_and_its_thought_go_back_under_their_own_names(monkeypatch: pytest.MonkeyPatch) -> None:
    models = Models()
    async with responses_peer() as peer:
        monkeypatch.setenv("OPENAI_BASE_URL", peer.url)
        monkeypatch.setenv("OPENAI_API_KEY", "key")
        asked = await models.respond(REQUEST, Partial())
        result = ToolResult(id=OURS, name="look", output=(Text(text="closed"),))
        spoken = Message(role="assistant", blocks=tuple(stored(block) for block in asked.blocks))
        heard, partial = (*REQUEST.messages, spoken, Message(role="tool", blocks=(result,))), Partial()
        answer = await models.respond(replace(REQUEST, messages=heard), partial)
        await models.aclose()
    [call] = [block for block in asked.blocks if isinstance(block, ToolCall)]
    assert (call.name, call.arguments) == ("look", {"what": "the door"})
    assert (asked.usage.input_tokens, asked.usage.output_tokens, asked.usage.cache_read_tokens) == (11, 7, 3)
    assert partial.text == "It is closed."
    assert [block.text for block in answer.blocks if isinstance(block, Text)] == ["It is closed."]
    question, thought, called, told = peer.asked[1]["input"]
    assert question["content"] == "Is the door closed?"
    assert (thought["id"], thought["encrypted_content"]) == ("rs_1", "sealed")
    assert (called["id"], called["call_id"], told["call_id"], told["output"]) == ("fc_1", OURS, OURS, "closed")
