"""Compaction on command, after an unanswered call, and what becomes of one that fails."""

from __future__ import annotations

from typing import Any

import pytest

from tests.integration.runtime.agents import TOOLS, UNASKED
from tests.integration.runtime.cluster import Cluster, Turn
from tests.integration.runtime.scripts import call, say, task
from tests.unit.journal.world import check_pairs
from turnwright.activities.agent import Agent
from turnwright.activities.models import Fail, Say, Silent, script
from turnwright.activities.models.port import ModelRequest, ModelResponse, Partial
from turnwright.activities.models.router import Models
from turnwright.journal.agents import ContextPolicy
from turnwright.journal.commands import CompactThread, UpdateState
from turnwright.journal.context.summaries import INSTRUCTIONS
from turnwright.journal.entries import ContextCompacted, ContextCompactionFailed, Entry, ModelInterrupted
from turnwright.journal.messages import Message, Text, ToolCall, user

NOTES = script("notes of a compaction", Say(say="They talked."))
ENDLESS_NOTES = script("endless notes of a compaction", Silent(silent="They ta"))
NO_NOTES = script("no notes of a compaction", Fail(fail="invalid", message="I write no notes"))


def agent(name: str, summary_model: str = NOTES.model, window_tokens: int = 6_000, **more: Any) -> Agent:  # noqa: ANN401 - any argument of an agent
    policy = ContextPolicy(window_tokens=window_tokens, summary_model=summary_model, summary_tokens_max=100)
    return Agent(name, "scripted:test", tools=TOOLS, permissions=UNASKED, context=policy, **more)


AGENTS = (
    agent("keeper"),
    agent("wide", window_tokens=1_000_000),
    agent("sloppy", NO_NOTES.model),
    agent("endless", ENDLESS_NOTES.model),
)


class Recording(Models):
    """Plays scripts, and remembers what it was sent."""

    def __init__(self) -> None:
        super().__init__()
        self.asked: list[ModelRequest] = []
        self.summaries = 0

    async def respond(self, request: ModelRequest, partial: Partial) -> ModelResponse:
        if request.instructions == INSTRUCTIONS:
            self.summaries += 1
        else:
            self.asked.append(request)
        return await super().respond(request, partial)


async def of_kind(turn: Turn, kind: type) -> list[Entry]:
    return [entry for entry in await turn.cluster.entries(turn.key) if isinstance(entry.payload, kind)]


async def said(cluster: Cluster, name: str, text: str, *steps: dict[str, Any]) -> Turn:
    turn = await cluster.submit(message=task(*(steps or (say("yes"),)), text=text), agent=name)
    await turn.until("completed")
    return turn


async def test_a_conversation_that_is_not_long_is_compacted_on_command_with_the_next_model_call(
    cluster: Cluster,
) -> None:
    await cluster.start_worker(agents=AGENTS)
    turn = await said(cluster, "wide", "first " * 100)
    receipt = await cluster.execute(turn.key, CompactThread(request_id="compact", principal="ann", reason="slow"))
    assert receipt.status == "accepted"
    assert (await cluster.journal.state(turn.key)).compaction.requested_seq == receipt.seq
    second = await said(cluster, "wide", "second")
    (entry,) = await of_kind(second, ContextCompacted)
    assert entry.turn_id == second.turn_id
    state = await cluster.journal.state(turn.key)
    assert [message.text for message in state.context] == ["second", "yes"]
    assert (state.summary, state.compaction.requested_seq) == ("They talked.", 0)
    assert len(await of_kind(await said(cluster, "wide", "third"), ContextCompacted)) == 1


async def test_one_asked_for_that_fails_changes_nothing_says_why_and_is_not_tried_again(
    small_cluster: Cluster,
) -> None:
    models = Recording()
    await small_cluster.start_worker(agents=AGENTS, models=models)
    turn = await said(small_cluster, "sloppy", "first " * 100)
    await small_cluster.execute(turn.key, CompactThread(request_id="compact"))
    await said(small_cluster, "sloppy", "second")
    await said(small_cluster, "sloppy", "third")
    (entry,) = await of_kind(turn, ContextCompactionFailed)
    state = await small_cluster.journal.state(turn.key)
    assert isinstance(entry.payload, ContextCompactionFailed)
    assert "I write no notes" in state.compaction.reason
    assert (state.compaction.requested_seq, models.summaries) == (0, 1)
    assert len(state.context) == 6
    assert state.usage.total.requests == 3 + entry.payload.usage.requests


async def test_what_a_summary_took_that_a_cancel_cut_off_is_counted(small_cluster: Cluster) -> None:
    models = Recording()
    await small_cluster.start_worker(agents=AGENTS, models=models)
    first = await said(small_cluster, "endless", "first " * 100)
    await small_cluster.execute(first.key, CompactThread(request_id="compact"))
    before = (await small_cluster.journal.state(first.key)).usage.total
    turn = await small_cluster.submit(message=task(say("yes"), text="second"), agent="endless")

    async def asked() -> bool:
        return bool(models.summaries)

    await small_cluster.until(asked)
    await turn.cancel()
    await turn.until("cancelled")
    (entry,) = await turn.of_type("model.interrupted")
    assert isinstance(entry.payload, ModelInterrupted)
    assert (entry.payload.usage.requests, entry.payload.partial) == (1, ())
    assert (await small_cluster.journal.state(first.key)).usage.total == before + entry.payload.usage


async def test_while_summaries_fail_not_every_step_over_the_threshold_asks_for_one(small_cluster: Cluster) -> None:
    models = Recording()
    await small_cluster.start_worker(agents=AGENTS, models=models)
    await said(small_cluster, "sloppy", "first " * 4_000)
    steps = [call("add", a=number, b=1) for number in range(6)]
    await said(small_cluster, "sloppy", "go on", *steps, say("done"))
    assert models.summaries == 1
    longer = await said(small_cluster, "sloppy", "more " * 1_000)
    assert models.summaries == 2
    failed = [e.payload for e in await of_kind(longer, ContextCompactionFailed)]
    tokens = [payload.tokens for payload in failed if isinstance(payload, ContextCompactionFailed)]
    assert len(tokens) == 2
    assert tokens[1] > tokens[0] + 0.02 * 6_000


async def test_a_candidate_that_the_model_s_adapter_would_not_send_is_not_committed(small_cluster: Cluster) -> None:
    """The script that is played stands in the first message, which would give way."""
    await small_cluster.start_worker(agents=AGENTS)
    first = await said(small_cluster, "wide", "first " * 100, say("one"), say("two"))
    before = (await small_cluster.journal.state(first.key)).context
    await small_cluster.execute(first.key, CompactThread(request_id="compact"))
    second = await small_cluster.submit(message=user("go on"), agent="wide")
    await second.until("completed")
    (entry,) = await of_kind(second, ContextCompactionFailed)
    assert isinstance(entry.payload, ContextCompactionFailed)
    assert "could not be sent: no script for" in entry.payload.reason
    assert entry.payload.usage.requests == 1
    assert await of_kind(second, ContextCompacted) == []
    state = await small_cluster.journal.state(first.key)
    assert state.context[: len(before)] == before
    assert state.context[-1].text == "two"


@pytest.mark.parametrize("long_ago", [True, False], ids=["of the oldest message", "of the newest message"])
async def test_a_compaction_right_after_an_unanswered_call_keeps_pairs_whole(
    cluster: Cluster, *, long_ago: bool
) -> None:
    models = Recording()
    await cluster.start_worker(agents=AGENTS, models=models)
    turn = await said(cluster, "keeper", "hello")
    asking = Message(role="assistant", blocks=(Text(text="I look."), ToolCall(id="open", name="look")))
    talk = [user("long " * 4_000), Message(role="assistant", blocks=(Text(text="so be it"),))]
    held = [talk[0], asking, *talk] if long_ago else [*talk, user("look"), asking]
    context = [message.model_dump(mode="json") | {"seq": seq} for seq, message in enumerate(held, start=1)]
    state = await cluster.journal.state(turn.key)
    receipt = await cluster.execute(
        turn.key,
        UpdateState(
            request_id="u", expected_seq=state.as_of_seq, changes={"context": context}, reason="from elsewhere"
        ),
    )
    assert receipt.status == "accepted"
    assert (await cluster.journal.state(turn.key)).pending_calls == {"open"}
    second = await said(cluster, "keeper", "go on", call("add", a=1, b=2), say("done"))
    (entry,) = await of_kind(second, ContextCompacted)
    assert isinstance(entry.payload, ContextCompacted)
    assert entry.payload.replaces(held.index(asking) + 1) == long_ago
    state = await cluster.journal.state(turn.key)
    assert state.pending_calls == (frozenset() if long_ago else {"open"})
    for request in models.asked:
        check_pairs(request.messages)
    assert state.context[-1].text == "done"
