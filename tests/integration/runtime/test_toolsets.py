"""Toolsets of pydantic-ai: their tools are an agent's, and what they ask for becomes what that is here."""

from __future__ import annotations

from typing import Any, Self

import pytest
from pydantic_ai import (
    ApprovalRequired,
    BinaryContent,
    CallDeferred,
    FunctionToolset,
    ModelRetry,
    RunContext,
    ToolReturn,
)
from pydantic_ai.toolsets import AbstractToolset

from tests.integration.guides import Guide
from tests.integration.runtime.agents import UNASKED
from tests.integration.runtime.asking import last_asked, respond
from tests.integration.runtime.cluster import Cluster, Turn
from tests.integration.runtime.scripts import call, say
from turnwright.activities import Agent, ToolContext, Toolset
from turnwright.journal.entries import ToolFinished
from turnwright.journal.errors import InvalidInput
from turnwright.journal.messages import Media, Text


class Shop(FunctionToolset[str]):
    """A toolset that says when it is entered and left."""

    def __init__(self) -> None:
        super().__init__()
        self.happened: list[str] = []

    async def __aenter__(self) -> Self:
        self.happened.append("entered")
        return self

    async def __aexit__(self, *_: object) -> bool | None:
        self.happened.append("left")
        return None


def shop() -> Shop:
    """Its tools, one for each thing a tool may ask for."""
    made = Shop()

    @made.tool
    def who(ctx: RunContext[str], greeting: str = "I am") -> str:
        """Say for whom this runs."""
        assert ctx.metadata is not None
        return f"{greeting} {ctx.deps}, step {ctx.run_step}, key {ctx.metadata['idempotency_key']}"

    @made.tool_plain
    async def guess(number: int) -> str:
        """Guess a number."""
        raise ModelRetry(f"{number} is too low, try a higher one")

    @made.tool_plain
    def picture() -> ToolReturn[Any]:
        """Take a picture."""
        return ToolReturn([BinaryContent(b"\x89PNG", media_type="image/png"), "a cat"], content="taken today")

    @made.tool_plain(requires_approval=True)
    def refund(euros: int) -> str:
        """Refund."""
        return f"refunded {euros}"

    @made.tool
    def close(ctx: RunContext[str], account: str) -> str:
        """Close an account."""
        if not ctx.tool_call_approved:
            raise ApprovalRequired({"account": account})
        return f"closed {account}"

    @made.tool_plain
    def inspect(parcel: str) -> str:
        """Have a parcel inspected."""
        raise CallDeferred({"parcel": parcel})

    return made


def agent(toolset: AbstractToolset[Any], **options: Any) -> Agent:  # noqa: ANN401 - those of a Toolset
    return Agent("bot", "scripted:test", tools=[Toolset("shop", toolset, **options)], permissions=UNASKED)


def user(ctx: ToolContext) -> str:
    return f"{ctx.tenant}'s {ctx.user}"


async def finished(turn: Turn) -> list[ToolFinished]:
    return [entry.payload for entry in await turn.entries() if isinstance(entry.payload, ToolFinished)]


def text(payload: ToolFinished) -> str:
    return "\n".join(block.text for block in payload.output if isinstance(block, Text))


async def answer(turn: Turn, resolution: str, **given: Any) -> None:  # noqa: ANN401 - as in what it calls
    await respond(turn, (await last_asked(turn)).interaction_id, resolution, **given)


async def test_a_toolsets_tools_run_with_what_is_true_of_the_call(cluster: Cluster) -> None:
    toolset = shop()
    worker = await cluster.start_worker(agents=[agent(toolset, deps=user, effects={"who": "read"})])
    turn = await cluster.submit(call("who", greeting="for"), call("guess", number=3), call("picture"), say("done"))
    await turn.until("completed")
    told, retried, shown = await finished(turn)
    calls = [entry.payload for entry in await turn.of_type("tool.decided")]
    assert text(told) == f"for t's None, step 1, key {turn.turn_id}/{told.call_id}"
    assert (retried.outcome, text(retried)) == ("error", "3 is too low, try a higher one")
    assert [block.mime for block in shown.output if isinstance(block, Media)] == ["image/png"]
    assert text(shown) == "a cat\ntaken today"
    assert [decided.effect for decided in calls] == ["read", "once", "once"]  # type: ignore[attr-defined]
    await worker.activities.stop()
    assert toolset.happened == ["entered", "left"]


async def test_what_needs_an_approval_is_asked_and_runs_with_it(small_cluster: Cluster) -> None:
    await small_cluster.start_worker(agents=[agent(shop())])
    turn = await small_cluster.submit(
        call("refund", euros=5), call("close", account="old"), call("close", account="new"), say("done")
    )
    await answer(turn, "approve", arguments={"euros": 4})
    await turn.until_entry("interaction.requested", 2)
    await answer(turn, "approve")
    await turn.until_entry("interaction.requested", 3)
    await answer(turn, "deny", message="not this one")
    await turn.until("completed")
    ends = [(one.outcome, text(one)) for one in await finished(turn) if one.outcome != "deferred"]
    assert ends == [("success", "refunded 4"), ("success", "closed old"), ("denied", "not this one")]


async def test_what_is_deferred_is_delivered_from_outside(small_cluster: Cluster) -> None:
    await small_cluster.start_worker(agents=[agent(shop())])
    turn = await small_cluster.submit(call("inspect", parcel="p-1"), say("done"))
    await answer(turn, "succeeded", output="sound")
    await turn.until("completed")
    assert text((await finished(turn))[-1]) == "sound"


async def test_wrappers_of_pydantic_ai_count_and_so_do_names_of_ours(small_cluster: Cluster) -> None:
    wrapped = shop().filtered(lambda _, tool: tool.name != "refund").prefixed("old")
    await small_cluster.start_worker(agents=[agent(wrapped, include=["*who", "*refund"], prefix="shop_")])
    turn = await small_cluster.submit(call("shop_old_who", greeting=7), call("shop_old_refund"), say("done"))
    await turn.until("completed")
    assert [one.outcome for one in await finished(turn)] == ["error", "error"]
    (listed,) = await turn.of_type("tools.listed")
    assert [tool.name for tool in listed.payload.tools] == ["shop_old_who"]  # type: ignore[attr-defined]


def test_a_bare_toolset_is_told_what_it_needs() -> None:
    with pytest.raises(InvalidInput, match=r"Toolset\(name, toolset\)"):
        Agent("bot", "scripted:test", tools=[shop()])  # type: ignore[list-item] # that is what is wrong
    with pytest.raises(InvalidInput, match="is no toolset"):
        Toolset("shop", len)  # type: ignore[arg-type] # as above


async def test_the_guides_toolset_greets_the_customer(small_cluster: Cluster) -> None:
    guide = Guide("tools-from-elsewhere.md")
    await guide.run(guide.block("FunctionToolset").replace("openai:gpt-5", "scripted:test"))
    await small_cluster.start_worker(agents=[guide.names["agent"]])
    turn = await small_cluster.submit(call("greet"), say("done"), agent="clerk")
    await turn.until("completed")
    assert [text(one) for one in await finished(turn)] == ["Hello, stranger!"]


async def test_the_guides_servers_are_sources_of_an_agent() -> None:
    guide = Guide("tools-from-elsewhere.md")
    await guide.run(guide.block("mcp-server-time"))
    assert list(guide.names["agent"].definition.sources) == ["time", "git", "shop"]
