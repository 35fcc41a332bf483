"""Sessions get titles and summaries after their turns, and beside them."""

from __future__ import annotations

from tests.integration.runtime.cluster import Cluster, Turn
from tests.integration.runtime.scripts import say, task
from turnwright.activities.agent import Agent
from turnwright.activities.models import Fail, Say, script
from turnwright.journal.agents import ContextPolicy
from turnwright.journal.budgets import Budget
from turnwright.journal.commands import SetBudget, SetTitle
from turnwright.journal.control import SessionControl
from turnwright.journal.entries import UsageCounted

NAMES = script("names conversations", Say(say="A bicycle\n\nSomebody looks for a bicycle."))
SILENT = script("names nothing", Fail(fail="invalid", message="I name nothing"))
NAMING = ContextPolicy(summary_model=NAMES.model)
AGENTS = (
    Agent("plain", "scripted:test"),
    Agent("wordy", "scripted:test", titles="words"),
    Agent("naming", "scripted:test", titles="model", summaries=True, context=NAMING),
    Agent("mute", "scripted:test", titles="model", context=ContextPolicy(summary_model=SILENT.model)),
)


async def said(cluster: Cluster, agent: str, text: str) -> Turn:
    turn = await cluster.submit(message=task(say("yes"), text=text), agent=agent)
    await turn.until("completed")
    return turn


async def control(turn: Turn) -> SessionControl:
    row = await turn.cluster.journal.session(turn.key.session_key)
    assert row is not None
    return row.control


async def titled(turn: Turn) -> SessionControl:
    async def reached() -> SessionControl | None:
        found = await control(turn)
        return found if found.title else None

    return await turn.cluster.until(reached)


async def counted(turn: Turn) -> list[UsageCounted]:
    return [e.payload for e in await turn.cluster.entries(turn.key) if isinstance(e.payload, UsageCounted)]


async def test_a_session_is_called_by_its_first_words_or_as_a_person_says(small_cluster: Cluster) -> None:
    await small_cluster.start_worker(agents=AGENTS)
    turn = await said(small_cluster, "wordy", "Where is\nmy bicycle?")
    assert (await titled(turn)).title == "Where is my bicycle?"
    assert await counted(turn) == []
    await small_cluster.execute(turn.key.session_key, SetTitle(request_id="title", title="Mine"))
    await said(small_cluster, "wordy", "And my car?")
    assert (await control(turn)).title == "Mine"


async def test_a_model_names_and_sums_up_a_session_and_what_it_took_is_counted(cluster: Cluster) -> None:
    await cluster.start_worker(agents=AGENTS)
    turn = await said(cluster, "naming", "Where is my bicycle?")
    found = await titled(turn)
    assert (found.title, found.summary) == ("A bicycle", "Somebody looks for a bicycle.")
    [took] = await counted(turn)
    state = await cluster.journal.state(turn.key)
    assert took.usage.requests == 1
    assert state.usage.total.requests == 2
    row = await cluster.journal.thread(turn.key)
    assert row is not None
    assert row.control.used.tokens == state.usage.total.total_tokens


async def test_one_that_fails_is_counted_and_no_turn_suffers_nor_one_whose_budget_is_used_up(
    small_cluster: Cluster,
) -> None:
    await small_cluster.start_worker(agents=AGENTS)
    turn = await said(small_cluster, "mute", "Where is my bicycle?")

    async def once() -> bool:
        return bool(await counted(turn))

    await small_cluster.until(once)
    budget = Budget(steps=2)
    await small_cluster.execute(turn.key, SetBudget(request_id="budget", scope="thread", budget=budget))
    second = await said(small_cluster, "mute", "And my car?")
    assert (await second.status()).phase == "completed"
    assert (await control(turn)).title is None
    assert len(await counted(turn)) == 1
