"""What is sent of a conversation from elsewhere is what the provider's own interface asks for, whichever it is.

The requests are those that the providers' SDKs send, as a server reads them.
"""

import base64
import re
from collections.abc import Callable
from typing import Any

import pytest

from tests.integration.models.openai_peer import Reply, peer
from turnwright.activities.models.port import ModelFailure, ModelRequest, Partial
from turnwright.activities.models.router import Models
from turnwright.journal.elsewhere import Format, read_conversation
from turnwright.journal.messages import user
from turnwright.journal.view import paired

PIXEL = base64.b64encode(b"\x89PNG\r\n\x1a\n").decode()
PIXEL_URL = f"data:image/png;base64,{PIXEL}"
PICTURE = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": PIXEL}}


def asked(call_id: str, arguments: str) -> dict[str, Any]:
    return {"id": call_id, "type": "function", "function": {"name": "no such tool!", "arguments": arguments}}


CHAT: list[Any] = [
    {"role": "developer", "content": "Be brief."},
    {"role": "assistant", "content": "Hello."},
    {"role": "user", "content": [{"type": "text", "text": " "}, {"type": "image_url", "image_url": PIXEL_URL}]},
    {"role": "assistant", "tool_calls": [asked("functions.a:0", '{"n": "\\u0000"}'), asked("b", "{oops")]},
    {"role": "tool", "tool_call_id": "functions.a:0", "content": ""},
    {"role": "user", "content": "And?"},
    {"role": "assistant", "content": "", "function_call": {"name": "old", "arguments": "{}"}},
    {"role": "function", "name": "old", "content": "seen"},
    {"role": "tool", "tool_call_id": "nobody", "content": "lost"},
    {"role": "assistant", "content": None, "tool_calls": [asked("functions.a:0", "{}")]},
    {"role": "tool", "tool_call_id": "functions.a:0", "content": [{"type": "text", "text": "again"}]},
    {"role": "assistant", "content": "\n", "reasoning_content": "I think."},
    {"role": "assistant", "content": None, "tool_calls": [asked("last", "{}")]},
]  # fmt: skip
MESSAGES: dict[str, Any] = {
    "system": [{"type": "text", "text": "Be brief.", "cache_control": {"type": "ephemeral"}}],
    "messages": [
        {"role": "user", "content": [{"type": "text", "text": "hi"}, PICTURE]},
        {"role": "assistant", "content": [
            {"type": "thinking", "thinking": "hm", "signature": "c2ln"},
            {"type": "redacted_thinking", "data": "eA=="},
            {"type": "tool_use", "id": "toolu_1", "name": "look", "input": {"n": 1}},
            {"type": "tool_use", "id": "toolu_2", "name": "look", "input": {}},
        ]},
        {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "toolu_2", "content": [PICTURE]}]},
        {"role": "assistant", "content": [{"type": "server_tool_use", "id": "s", "name": "web_search", "input": {}}]},
        {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "nobody", "content": "lost"}]},
    ],
}  # fmt: skip
STATE: dict[str, Any] = {
    "reply_context": {},
    "context": [
        {"role": "user", "name": "ann", "content": [{"type": "text", "text": "hi"}]},
        {"role": "assistant", "name": "bot", "content": [
            {"type": "hint", "hint": "Be kind."},
            {"type": "thinking", "thinking": "hm", "signature": "c2ln"},
            {"type": "tool_call", "id": "1", "name": "look", "input": "{}", "state": "finished"},
            {"type": "tool_result", "id": "1", "output": [PICTURE | {"type": "data"}], "state": "success"},
            {"type": "tool_call", "id": "1", "name": "look", "input": "{}", "state": "asking"},
        ]},
    ],
}  # fmt: skip
DOCUMENTS: list[tuple[Format, Any]] = [("openai", CHAT), ("anthropic", MESSAGES), ("agentscope", STATE)]


def check_openai(body: dict[str, Any]) -> None:
    """Each call has its result right behind it, every id is there once, and nothing is empty."""
    waiting: list[str] = []
    seen: list[str] = []
    for message in body["messages"]:
        if message["role"] == "tool":
            waiting.remove(message["tool_call_id"])
        else:
            assert waiting == [], "a call is unanswered when the next message comes"
        calls = message.get("tool_calls") or []
        assert message.get("content") or calls
        waiting = waiting or [call["id"] for call in calls]
        seen += [call["id"] for call in calls]
        assert all(len(call["id"]) <= 40 and re.fullmatch("[A-Za-z0-9_-]+", call["function"]["name"]) for call in calls)
    assert waiting == []
    assert len(seen) == len(set(seen)) > 0


def check_anthropic(body: dict[str, Any]) -> None:
    """A user begins; results stand first in the message behind their calls; no text is blank."""
    turns: list[tuple[str, list[Any]]] = []
    for message in body["messages"]:
        content = message["content"]
        blocks = [{"type": "text", "text": content}] if isinstance(content, str) else content
        if turns and turns[-1][0] == message["role"]:
            turns[-1][1].extend(blocks)
        else:
            turns.append((message["role"], list(blocks)))
    assert turns[0][0] == "user"
    waiting: list[str] = []
    seen: list[str] = []
    for _, blocks in turns:
        results = [block["tool_use_id"] for block in blocks if block["type"] == "tool_result"]
        assert sorted(results) == sorted(waiting)
        assert all(block["type"] == "tool_result" for block in blocks[: len(results)])
        within = [inner for block in blocks if block["type"] == "tool_result" for inner in block["content"]]
        assert all(block["text"].strip() for block in (*blocks, *within) if block["type"] == "text")
        waiting = [block["id"] for block in blocks if block["type"] == "tool_use"]
        seen += waiting
    assert waiting == []
    assert len(seen) == len(set(seen)) > 0
    assert all(re.fullmatch("[a-zA-Z0-9_-]+", call) for call in seen)


@pytest.mark.parametrize(("form", "document"), DOCUMENTS, ids=[form for form, _ in DOCUMENTS])
@pytest.mark.parametrize(
    ("model", "check"), [("openai:gpt-5", check_openai), ("anthropic:claude-of-the-tests", check_anthropic)],
    ids=["to openai", "to anthropic"],
)  # fmt: skip
async def test_every_provider_is_sent_a_conversation_it_takes(
    form: Format,
    document: Any,  # noqa: ANN401 - any JSON value
    model: str,
    check: Callable[[dict[str, Any]], None],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    found = read_conversation(form, document)
    models = Models()
    async with peer(Reply(status=400, body={"error": {"message": "enough"}})) as other:
        monkeypatch.setenv("ANTHROPIC_BASE_URL", other.url.removesuffix("/v1"))
        monkeypatch.setenv("ANTHROPIC_API_KEY", "k")
        served = other.url if model.startswith("openai:") else None
        messages = paired((*found.messages, user("Go on.")))
        asked_for = ModelRequest(model, "Be kind.", messages, (), {}, base_url=served, blobs=dict(found.blobs))
        with pytest.raises(ModelFailure, match="enough"):
            await models.respond(asked_for, Partial())
        await models.aclose()
    [body] = other.asked
    check(body)
    assert "Go on." in str(body["messages"][-1])
