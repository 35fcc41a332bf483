"""Conversations longer than their model's window: something gives way, visibly, and the turn goes on."""

from __future__ import annotations

from itertools import pairwise

import pytest

from tests.integration.runtime.agents import TOOLS, UNASKED
from tests.integration.runtime.cluster import Cluster, Turn
from tests.integration.runtime.scripts import call, say, task
from tests.unit.journal.world import check_pairs
from turnwright.activities.agent import Agent
from turnwright.activities.models import Fail, Say, script
from turnwright.activities.models.port import ModelRequest, ModelResponse, Partial
from turnwright.activities.models.router import Models
from turnwright.activities.tools import tool
from turnwright.journal.agents import ContextPolicy
from turnwright.journal.context.tokens import request_tokens
from turnwright.journal.entries import ContextCompacted, ContextOffloaded, ToolFinished
from turnwright.journal.messages import Text
from turnwright.journal.view import request_messages

NOTES = script("notes", Say(say="They talked."))
NO_NOTES = script("no notes", Fail(fail="invalid", message="I write no notes"))


@tool(effect="read")
async def read_log() -> str:
    """Read a long log."""
    return "".join(f"line {number}\n" for number in range(10_000))


def agent(name: str, summary_model: str = NOTES.model, window_tokens: int | None = 6_000) -> Agent:
    policy = ContextPolicy(
        window_tokens=window_tokens, summary_model=summary_model, summary_tokens_max=100, result_characters_max=1_000
    )
    return Agent(name, "scripted:test", tools=(*TOOLS, read_log), permissions=UNASKED, context=policy)


AGENTS = (agent("keeper"), agent("sloppy", NO_NOTES.model), agent("trusting", window_tokens=None))


async def compacted(turn: Turn) -> list[ContextCompacted]:
    entries = await turn.cluster.entries(turn.key)
    return [entry.payload for entry in entries if isinstance(entry.payload, ContextCompacted)]


async def test_the_oldest_messages_give_way_to_a_summary_and_no_range_is_replaced_twice(cluster: Cluster) -> None:
    await cluster.start_worker(agents=AGENTS)
    turn = await cluster.submit(message=task(say("hello"), text="first"), agent="keeper")
    await turn.until("completed")
    for number in range(10):
        message = task(call("add", a=number, b=1), say("so be it " * 300), text=f"{number} " + "words " * 500)
        turn = await cluster.submit(message=message, agent="keeper")
        await turn.until("completed")
    found = await compacted(turn)
    assert len(found) > 1
    assert all(earlier.to_seq < later.from_seq for earlier, later in pairwise(found))
    assert {payload.summary for payload in found} == {"They talked."}
    assert all(payload.usage.requests for payload in found)
    state = await cluster.journal.state(turn.key)
    assert state.summary == "They talked."
    check_pairs(request_messages(state))
    assert request_tokens(state) < 6_000
    assert state.usage.total.requests == 21 + sum(payload.usage.requests for payload in found)


async def test_a_long_result_gives_way_to_a_stub_and_is_read_back(cluster: Cluster) -> None:
    await cluster.start_worker(agents=AGENTS)
    first = await cluster.submit(call("read_log"), say("long"), agent="keeper")
    await first.until("completed")
    (offloaded,) = [e.payload for e in await cluster.entries(first.key) if isinstance(e.payload, ContextOffloaded)]
    state = await cluster.journal.state(first.key)
    (shown,) = [block for m in state.context for r in m.results for block in r.output if isinstance(block, Text)]
    assert shown.text == offloaded.stub
    assert "line 9999" in shown.text
    assert "line 5000" not in shown.text

    wanted = call("read_result", call_id=offloaded.call_id, start=48_000)
    second = await cluster.submit(wanted, say("found"), agent="keeper")
    await second.until("completed")
    (finished,) = [e.payload for e in await second.entries() if isinstance(e.payload, ToolFinished)]
    assert finished.outcome == "success"
    assert "line 5000" in "".join(block.text for block in finished.output if isinstance(block, Text))


async def test_a_summary_that_cannot_be_had_changes_nothing_but_what_it_cost(cluster: Cluster) -> None:
    await cluster.start_worker(agents=AGENTS)
    first = await cluster.submit(message=task(say("yes"), text="first " * 2_000), agent="sloppy")
    await first.until("completed")
    turn = await cluster.submit(message=task(say("yes"), text="second " * 2_000), agent="sloppy")
    await turn.until("completed")
    assert await compacted(turn) == []
    state = await cluster.journal.state(turn.key)
    assert [message.role for message in state.context] == ["user", "assistant"] * 2
    assert (await turn.status()).phase == "completed"
    assert state.usage.total.requests > 2


class Bounded(Models):
    """Remembers how long each answer may be."""

    def __init__(self) -> None:
        super().__init__()
        self.bounds: list[object] = []

    async def respond(self, request: ModelRequest, partial: Partial) -> ModelResponse:
        self.bounds.append(request.settings.get("max_tokens"))
        return await super().respond(request, partial)


async def test_a_summary_has_its_own_bound_whatever_that_of_answers_is(small_cluster: Cluster) -> None:
    models, policy = Bounded(), ContextPolicy(window_tokens=3_000, summary_tokens_max=100)
    wordy = Agent("wordy", "scripted:test", model_settings={"max_tokens": 4_096}, context=policy)
    await small_cluster.start_worker(agents=(wordy,), models=models)
    for text in ("first " * 2_000, "second"):
        turn = await small_cluster.submit(message=task(say("yes"), text=text), agent="wordy")
        await turn.until("completed")
    assert models.bounds == [4_096, 100, 4_096]


async def test_a_request_that_its_provider_finds_too_long_is_made_shorter_and_sent_again(cluster: Cluster) -> None:
    await cluster.start_worker(agents=AGENTS)
    first = await cluster.submit(message=task(say("yes"), text="words " * 2_000), agent="trusting")
    await first.until("completed")
    too_long = {"fail": "context_length", "times": 1}
    second = await cluster.submit(message=task(too_long, say("now it fits"), text="go on"), agent="trusting")
    await second.until("completed")
    (payload,) = await compacted(second)
    assert payload.summary == "They talked."
    types = await second.types()
    assert types.index("model.failed") < types.index("context.compacted") < types.index("model.responded")
    state = await cluster.journal.state(second.key)
    assert [message.text for message in state.context] == ["yes", "go on", "now it fits"]


@pytest.mark.parametrize("agent", ["keeper", "trusting"])
async def test_a_request_that_cannot_be_made_shorter_fails_the_turn_after_the_second_try(
    cluster: Cluster, agent: str
) -> None:
    await cluster.start_worker(agents=AGENTS)
    turn = await cluster.submit({"fail": "context_length"}, say("never"), agent=agent)
    status = await turn.until("failed")
    assert (status.code, status.retryable) == ("model_error", False)
    assert len(await turn.of_type("model.failed")) == 2
    assert await compacted(turn) == []
