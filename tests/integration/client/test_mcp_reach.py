"""What an MCP server of one user reaches."""

from __future__ import annotations

import pytest
from mcp.server.mcpserver.exceptions import ToolError, UnexpectedToolError
from pydantic import TypeAdapter

from tests.integration.client.hands import AGENT, Hands
from turnwright.client import Client
from turnwright.client.errors import NotFound
from turnwright.client.mcp.server import make_server
from turnwright.client.mcp.tools import Tools


@pytest.mark.parametrize("user", [None, "alice"])
async def test_nothing_of_another_user_is_told_or_answered(client: Client, asking: Hands, user: str | None) -> None:
    session = client.session("bob", "s")
    await session.create()
    turn = await session.submit("task", agent=AGENT)
    await asking.want_tool(turn)
    [question] = await turn.questions()
    stranger, owner = Tools(client, user), Tools(client, "bob")
    for attempt in (
        stranger.status(turn.id),
        stranger.wait(turn.id, 0),
        stranger.respond(question.interaction_id, "approve"),
        stranger.status(turn.id[:4]),
        owner.status(turn.id[:4]),
    ):
        with pytest.raises(NotFound):
            await attempt
    assert (await stranger.questions()).questions == []
    assert (await owner.status(turn.id)).turn_id == turn.id
    assert (await owner.respond(question.interaction_id, "approve")).turn_id == turn.id


async def test_arguments_that_do_not_fit_are_said_in_plain_words_and_nothing_is_done(client: Client) -> None:
    server = make_server(client, "bob")
    with pytest.raises(ToolError) as refused:
        await server.call_tool("submit", {"session": "s", "agent": AGENT, "message": 7, "if_busy": "wait"})
    begin, *lines = str(refused.value).splitlines()
    assert begin == "invalid_input: nothing was done, the arguments do not fit the schema of submit"
    assert [line.partition(": ")[0] for line in lines] == ["- message", "- request_id", "- if_busy"]
    assert "pydantic" not in str(refused.value)
    with pytest.raises(ToolError, match="not_found: "):
        await server.call_tool("status", {"turn_id": f"t-{'0' * 32}"})
    with pytest.raises(NotFound):
        await client.session("bob", "s").status()


async def test_of_a_tool_that_breaks_it_is_not_said_that_its_arguments_do_not_fit(client: Client) -> None:
    server = make_server(client, "bob")

    @server.tool()
    def breaks() -> int:
        return TypeAdapter(int).validate_python("none")

    with pytest.raises(UnexpectedToolError) as broken:
        await server.call_tool("breaks", {})
    assert "nothing was done" not in str(broken.value)
