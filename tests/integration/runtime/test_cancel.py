"""Cancelling: it wins over everything that has not ended, and frees the turn whoever is silent."""

import asyncio
from dataclasses import replace
from pathlib import Path

import pytest

from tests.integration.runtime.cluster import Cluster, Turn
from tests.integration.runtime.gated import GatedModels
from tests.integration.runtime.scripts import call, calls, say
from tests.integration.runtime.workers import DEADLINE_S, SETTINGS
from turnwright.activities.models.port import ModelRequest, ModelResponse, Partial
from turnwright.activities.tool_host import ToolHost
from turnwright.journal.commands import CancelSession, CancelThread
from turnwright.journal.entries import ModelInterrupted, ToolFinished
from turnwright.journal.messages import Text


async def closed_call(turn: Turn) -> ToolFinished:
    (entry,) = await turn.of_type("tool.finished")
    assert isinstance(entry.payload, ToolFinished)
    return entry.payload


async def test_a_queued_turn_is_cancelled_at_once_and_the_others_run(cluster: Cluster, tmp_path: Path) -> None:
    await cluster.start_worker()
    gate = tmp_path / "gate"
    active = await cluster.submit(call("look", log=str(tmp_path / "log"), wait_for=str(gate)), say("done"))
    doomed, kept = await cluster.submit(say("doomed")), await cluster.submit(say("kept"))
    await doomed.cancel()
    assert (await doomed.status()).phase == "cancelled"
    gate.touch()
    await active.until("completed")
    await kept.until("completed")
    assert "turn.started" not in await doomed.types()


@pytest.mark.parametrize("wake", [True, False], ids=["told", "signal lost"])
async def test_cancelling_frees_a_turn_whose_model_went_silent_and_keeps_its_words(
    cluster: Cluster, wake: bool
) -> None:
    await cluster.start_worker()
    turn = await cluster.submit({"silent": "I was about to"})
    await turn.until_entry("model.requested")
    await turn.cancel(wake=wake)
    assert (await turn.until("cancelled")).code == "cancelled_by_turn"
    (entry,) = await turn.of_type("model.interrupted")
    assert isinstance(entry.payload, ModelInterrupted)
    assert entry.payload.reason == "cancelled"
    following = await cluster.submit(say("on we go"))
    await following.until("completed")


class Unfinished:
    """A model that says a few words, and then nothing."""

    def __init__(self) -> None:
        self.spoken = asyncio.Event()

    async def respond(self, request: ModelRequest, partial: Partial) -> ModelResponse:
        del request
        partial.extend(0, "text", "Once upon a")
        self.spoken.set()
        return await asyncio.Future[ModelResponse]()

    async def check(self, request: ModelRequest) -> None:
        pass

    async def aclose(self) -> None:
        pass


async def test_words_that_were_streamed_before_the_cancel_are_kept_and_marked(cluster: Cluster) -> None:
    models = Unfinished()
    await cluster.start_worker(models=models)
    turn = await cluster.submit(say("never"))
    async with asyncio.timeout(DEADLINE_S):
        await models.spoken.wait()
    await turn.cancel()
    await turn.until("cancelled")
    (entry,) = await turn.of_type("model.interrupted")
    assert isinstance(entry.payload, ModelInterrupted)
    assert entry.payload.partial == (Text(text="Once upon a"),)
    asked, said = (await cluster.journal.state(turn.key)).context
    assert (asked.text, said.role, said.text, said.metadata) == (
        "please",
        "assistant",
        "Once upon a",
        {"interrupted": True},
    )


@pytest.mark.parametrize(
    ("tool", "outcome", "unsure"),
    [("look", "interrupted", False), ("charge", "interrupted", False), ("send", "unknown", True)],
)
async def test_cancelling_stops_a_running_tool_and_says_whether_its_effect_is_known(
    cluster: Cluster, tmp_path: Path, tool: str, outcome: str, unsure: bool
) -> None:
    await cluster.start_worker()
    log = tmp_path / "log"
    turn = await cluster.submit(call(tool, log=str(log), wait_for=str(tmp_path / "never")), say("never"))
    await cluster.until_trace(log, "started")
    await turn.cancel()
    status = await turn.until("cancelled")
    names = [name for name in await turn.types() if name.startswith("tool.")]
    assert names.count("tool.started") == 1
    last = (await turn.of_type("tool.finished"))[-1].payload
    assert isinstance(last, ToolFinished)
    assert (last.outcome, last.effect_unknown) == (outcome, unsure)
    assert (tool in (status.effects_unknown or "")) == unsure
    following = await cluster.submit(say("{messages}"))
    await following.until("completed")


async def test_a_tool_that_ignores_the_cancel_is_given_up_and_the_turn_says_so(
    cluster: Cluster, tmp_path: Path
) -> None:
    await cluster.start_worker(tools=ToolHost(cancel_grace_s=0.1))
    log, gate = tmp_path / "log", tmp_path / "gate"
    turn = await cluster.submit(call("stubborn", log=str(log), wait_for=str(gate)), say("never"))
    await cluster.until_trace(log, "started")
    await turn.cancel()
    status = await turn.until("cancelled")
    assert "stubborn" in (status.effects_unknown or "")
    assert (await closed_call(turn)).effect_unknown
    assert "asked to stop" in log.read_text()
    gate.touch()


async def test_cancelling_closes_every_call_of_a_step(cluster: Cluster, tmp_path: Path) -> None:
    await cluster.start_worker()
    log, never = tmp_path / "log", str(tmp_path / "never")
    slow = {"log": str(log), "wait_for": never}
    turn = await cluster.submit(calls(("look", slow), ("add", {"a": 1, "b": 1}), ("charge", slow)), say("never"))
    await cluster.until_trace(log, "started", 2)
    await turn.until_entry("tool.finished")
    await turn.cancel()
    await turn.until("cancelled")
    outcomes = {e.payload.name: e.payload.outcome for e in await turn.of_type("tool.finished")}  # type: ignore[attr-defined]
    assert outcomes == {"look": "interrupted", "add": "success", "charge": "interrupted"}
    state = await cluster.journal.state(turn.key)
    asked = {c.id for message in state.context for c in message.calls}
    assert asked == {result.id for message in state.context for result in message.results}


async def test_a_cancel_before_the_answer_that_would_end_the_turn_wins_even_if_the_answer_arrives(
    cluster: Cluster,
) -> None:
    models = GatedModels(deaf=True)
    await cluster.start_worker(models=models, settings=replace(SETTINGS, model_stop_s=DEADLINE_S))
    turn = await cluster.submit(say("the end"))
    await turn.until_entry("model.requested")
    await turn.cancel()
    assert (await turn.status()).phase == "cancelling"
    models.allow()
    await turn.until("cancelled")
    assert "turn.completed" not in await turn.types()


async def test_cancelling_a_paused_turn_ends_it_without_a_run(cluster: Cluster) -> None:
    models = GatedModels()
    await cluster.start_worker(models=models)
    turn = await cluster.submit(call("add", a=1, b=2), say("never"))
    await turn.until_entry("model.requested")
    await turn.pause()
    models.allow()
    await turn.until_pause("effective")
    await turn.until_parked()
    receipt = await turn.cancel()
    assert (await turn.status()).phase == "cancelled"
    assert receipt.status == "accepted"
    assert len(await turn.of_type("run.claimed")) == 1


async def test_a_second_cancel_changes_nothing_and_one_after_the_end_is_rejected(cluster: Cluster) -> None:
    models = GatedModels(deaf=True)
    await cluster.start_worker(models=models, settings=replace(SETTINGS, model_stop_s=DEADLINE_S))
    turn = await cluster.submit(say("never"))
    await turn.until_entry("model.requested")
    assert [(await turn.cancel()).status for _ in range(2)] == ["accepted", "accepted"]
    models.allow()
    await turn.until("cancelled")
    assert len(await turn.of_type("turn.cancel_requested")) == 1
    late = await turn.cancel()
    assert (late.status, late.code) == ("rejected", "wrong_phase")


async def test_cancelling_a_thread_ends_its_active_turn_and_its_queue(cluster: Cluster, tmp_path: Path) -> None:
    await cluster.start_worker()
    log = tmp_path / "log"
    turns = [await cluster.submit(call("look", log=str(log), wait_for=str(tmp_path / "never"))) for _ in range(3)]
    await cluster.until_trace(log, "started")
    await cluster.execute(turns[0].key, CancelThread(request_id="c"))
    for turn in turns:
        assert (await turn.until("cancelled")).code == "cancelled_by_thread"
    following = await cluster.submit(say("open for business"))
    await following.until("completed")


async def test_cancelling_a_session_ends_what_was_there_on_every_thread_and_nothing_later(
    cluster: Cluster, tmp_path: Path
) -> None:
    await cluster.start_worker()
    log, never = tmp_path / "log", str(tmp_path / "never")
    turns = [await cluster.submit(call("look", log=str(log), wait_for=never), thread=f"t{n % 3}") for n in range(6)]
    await cluster.until_trace(log, "started", 3)
    await cluster.execute(turns[0].key.session_key, CancelSession(request_id="c"))
    later = await cluster.submit(say("after"), thread="t0")
    for turn in turns:
        assert (await turn.until("cancelled")).code == "cancelled_by_session"
    await later.until("completed")
