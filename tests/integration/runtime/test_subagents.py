"""Subagents on a real Temporal: a call opens a turn elsewhere, and the end of that turn is its result."""

from pathlib import Path

import pytest

from tests.integration.runtime.asking import results
from tests.integration.runtime.cluster import Cluster
from tests.integration.runtime.families import children, family, give, told, until_taken_in, until_there
from tests.integration.runtime.scripts import call, say


async def test_the_answers_of_two_children_are_the_results_of_their_calls(cluster: Cluster) -> None:
    async with family(cluster):
        turn = await cluster.submit(give(told(say("one")), told(say("two"))), say("{result}"), agent="head")
        await turn.until("completed")
        got = [(name, outcome, text) for name, outcome, text in await results(turn) if outcome != "deferred"]
        assert sorted(got) == [("helper", "success", "one"), ("helper", "success", "two")]
        for child in await children(turn, 2):
            status = await child.status()
            assert status.phase == "completed"
            assert status.parent is not None
            assert (status.parent.turn_id, status.parent.beside(child.key)) == (turn.turn_id, turn.key)
        types = await turn.types()
        assert (types.count("child.spawned"), types.count("child.finished")) == (2, 2)


async def test_a_child_has_a_child_and_a_failed_one_is_an_error_for_the_model(small_cluster: Cluster) -> None:
    async with family(small_cluster):
        lazy = told({"fail": "refused"})
        turn = await small_cluster.submit(
            give(told(give(told(say("deep"))), say("{result}")), lazy), say("ok"), agent="head"
        )
        await turn.until("completed")
        got = [result for result in await results(turn) if result[1] != "deferred"]
        assert ("helper", "success", "deep") in got
        assert [outcome for _, outcome, text in got if "failed (model_error)" in text] == ["error"]


async def test_a_cancel_of_the_parent_stops_its_children_and_what_they_still_bring_changes_nothing(
    cluster: Cluster, tmp_path: Path
) -> None:
    async with family(cluster):
        log, gate = tmp_path / "log", tmp_path / "gate"
        working = told(call("look", log=str(log), wait_for=str(gate)), say("done"))
        turn = await cluster.submit(give(working, working, working), say("ok"), agent="head")
        await turn.until("waiting")
        await cluster.until_trace(log, "started", 3)
        await turn.cancel()
        assert (await turn.status()).phase == "cancelled"
        for child in await children(turn, 3):
            status = await child.until("cancelled")
            assert status.message == f"its parent, turn {turn.turn_id}, was cancelled"
        await until_taken_in(cluster)
        assert "child.finished" not in await turn.types()
        assert [outcome for _, outcome, _ in await results(turn)].count("interrupted") == 3
        after = await cluster.submit(say("next"), agent="head")
        await after.until("completed")


async def test_a_detached_child_outlives_its_parent(small_cluster: Cluster, tmp_path: Path) -> None:
    async with family(small_cluster):
        log, gate = tmp_path / "log", tmp_path / "gate"
        working = told(call("look", log=str(log), wait_for=str(gate)), say("done"))
        turn = await small_cluster.submit(give(working, name="send_off"), say("sent"), agent="head")
        await turn.until("completed")
        [child] = await children(turn)
        [(_, outcome, text)] = await results(turn)
        assert (outcome, child.turn_id in text, child.key.thread in text) == ("success", True, True)
        await small_cluster.until_trace(log, "started")
        gate.touch()
        await child.until("completed")
        await until_taken_in(small_cluster)
        assert "child.finished" not in await turn.types()


async def test_a_child_that_is_too_deep_is_refused_in_words(small_cluster: Cluster) -> None:
    async with family(small_cluster):
        turn = await small_cluster.submit(give(told(say("one"))), say("ok"), agent="shallow")
        await turn.until("completed")
        assert [(outcome, "at most 0" in text) for _, outcome, text in await results(turn)] == [("error", True)]


@pytest.mark.parametrize("when", ["before", "after"])
async def test_a_child_ends_while_its_parent_is_paused_and_the_parent_goes_on_when_resumed(
    small_cluster: Cluster, tmp_path: Path, when: str
) -> None:
    async with family(small_cluster):
        log, gate = tmp_path / "log", tmp_path / "gate"
        working = told(call("look", log=str(log), wait_for=str(gate)), say("done"))
        turn = await small_cluster.submit(give(working), say("{result}"), agent="head")
        await turn.until("waiting")
        await turn.pause()
        [child] = await children(turn)
        await until_there(child)
        if when == "before":
            gate.touch()
            await turn.until_entry("child.finished")
        await turn.resume()
        gate.touch()
        await turn.until("completed")
