"""Sessions get titles and summaries after their turns, and beside them."""

from __future__ import annotations

import asyncio

import pytest
from structlog.testing import capture_logs

from tests.integration.runtime.cluster import Cluster, Turn
from tests.integration.runtime.scripts import say, task
from turnwright.activities.agent import Agent
from turnwright.activities.models import Fail, Say, Silent, script
from turnwright.activities.models.port import ModelRequest, ModelResponse, Partial
from turnwright.activities.models.router import Models
from turnwright.activities.runtime import describing
from turnwright.journal.agents import ContextPolicy
from turnwright.journal.budgets import Budget
from turnwright.journal.commands import EraseEntry, SetBudget, SetTitle
from turnwright.journal.control import SessionControl
from turnwright.journal.describing import ASKED_AGAIN_AFTER_ENTRIES, INSTRUCTIONS
from turnwright.journal.entries import SessionNotDescribed, SessionTitled, UsageCounted

NAMES = script("names conversations", Say(say="A bicycle\n\nSomebody looks for a bicycle."))
TITLES = script("gives only titles", Say(say="A bicycle"))
ENDLESS = script("goes on for ever", Silent(silent="A bic"))
SILENT = script("names nothing", Fail(fail="invalid", message="I name nothing"))
NAMING = ContextPolicy(summary_model=NAMES.model)
AGENTS = (
    Agent("plain", "scripted:test"),
    Agent("wordy", "scripted:test", titles="words"),
    Agent("naming", "scripted:test", titles="model", summaries=True, context=NAMING),
    Agent("terse", "scripted:test", titles="model", summaries=True, context=ContextPolicy(summary_model=TITLES.model)),
    Agent("slow", "scripted:test", titles="model", context=ContextPolicy(summary_model=ENDLESS.model)),
    Agent("mute", "scripted:test", titles="model", context=ContextPolicy(summary_model=SILENT.model)),
)


class Held(Models):
    """Plays scripts; who names a conversation is let go on by the test. `deaf`: it does not notice its cancel."""

    def __init__(self, *, deaf: bool = False) -> None:
        super().__init__()
        self.asked, self.go_on = asyncio.Event(), asyncio.Event()
        self._deaf = deaf

    async def respond(self, request: ModelRequest, partial: Partial) -> ModelResponse:
        if request.instructions == INSTRUCTIONS:
            self.asked.set()
            while not self.go_on.is_set():
                try:
                    await self.go_on.wait()
                except asyncio.CancelledError:
                    if not self._deaf:
                        raise
        return await super().respond(request, partial)


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


async def test_what_a_model_says_of_an_entry_that_was_erased_meanwhile_is_not_kept(cluster: Cluster) -> None:
    models = Held()
    await cluster.start_worker(agents=AGENTS, models=models)
    turn = await said(cluster, "naming", "Where is my bicycle?")
    await models.asked.wait()
    [seq] = [entry.seq for entry in await turn.of_type("turn.queued")]
    await cluster.execute(turn.key, EraseEntry(request_id="erase", seq=seq))
    models.go_on.set()

    async def once() -> bool:
        return bool(await counted(turn))

    await cluster.until(once)
    await said(cluster, "naming", "And my car?")
    await titled(turn)
    log = await cluster.entries(turn.key.session_key.log)
    [made_of] = [entry.payload.made_of for entry in log if isinstance(entry.payload, SessionTitled)]
    assert made_of is not None
    [erased] = [entry.seq for entry in await cluster.entries(turn.key) if entry.type == "entry.erased"]
    assert made_of.through_seq > erased
    assert len(await counted(turn)) == 2


async def test_a_model_that_gives_no_summary_is_asked_again_when_more_was_said(small_cluster: Cluster) -> None:
    await small_cluster.start_worker(agents=AGENTS)
    turn = await said(small_cluster, "terse", "Where is my bicycle?")
    assert (await titled(turn)).title == "A bicycle"

    async def attempts(count: int) -> list[SessionNotDescribed] | None:
        log = await small_cluster.entries(turn.key.session_key.log)
        found = [e.payload for e in log if isinstance(e.payload, SessionNotDescribed)]
        return found if len(found) >= count else None

    await small_cluster.until(lambda: attempts(1))
    for text in ("And my car?", "And my boat?"):
        await said(small_cluster, "terse", text)
    first, second = await small_cluster.until(lambda: attempts(2))
    assert second.made_of.through_seq >= first.made_of.through_seq + ASKED_AGAIN_AFTER_ENTRIES
    assert (first.failed, len(await counted(turn))) == ("the model's answer has no summary", 2)
    assert (await control(turn)).undescribed == 2


async def test_what_a_model_took_that_is_cut_off_by_the_end_of_its_worker_is_counted(small_cluster: Cluster) -> None:
    models = Held()
    models.go_on.set()
    worker = await small_cluster.start_worker(agents=AGENTS, models=models)
    turn = await said(small_cluster, "slow", "Where is my bicycle?")
    await models.asked.wait()
    await worker.activities.parts.describing.stop()
    [took] = await counted(turn)
    assert (took.usage.requests, (await control(turn)).undescribed) == (1, 0)


async def test_a_model_that_does_not_let_go_holds_up_no_end(
    small_cluster: Cluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(describing, "STOP_S", 0.1)
    models = Held(deaf=True)
    worker = await small_cluster.start_worker(agents=AGENTS, models=models)
    await said(small_cluster, "naming", "Where is my bicycle?")
    await models.asked.wait()
    with capture_logs() as logs:
        await worker.activities.parts.describing.stop()
    assert [line["event"] for line in logs] == ["describing_left"]
    models.go_on.set()
