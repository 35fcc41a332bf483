"""Whatever a tool does, the turn gets a result and goes on."""

from pathlib import Path

import pytest

from tests.integration.runtime.cluster import Cluster, Turn
from tests.integration.runtime.scripts import Step, call, calls, say
from turnwright.journal.entries import ToolFinished
from turnwright.journal.messages import Text


async def finished(turn: Turn) -> ToolFinished:
    (entry,) = await turn.of_type("tool.finished")
    assert isinstance(entry.payload, ToolFinished)
    return entry.payload


def text(result: ToolFinished) -> str:
    return "".join(block.text for block in result.output if isinstance(block, Text))


@pytest.mark.parametrize(
    ("step", "told"),
    [
        (call("fail", message="the shop is closed"), "the shop is closed"),
        (call("dawdle"), "Timed out"),
        (call("add", a="one"), "do not fit the schema"),
        ({"call": [{"name": "add", "malformed": "{not json"}]}, "not a JSON object"),
        (call("no_such_tool"), "There is no tool named"),
        (call("bulk", megabytes=40), "larger than"),
    ],
    ids=["raises", "never ends", "wrong arguments", "malformed arguments", "unknown", "too large"],
)
async def test_a_call_that_goes_wrong_is_an_error_the_model_reads_and_the_turn_completes(
    cluster: Cluster, step: Step, told: str
) -> None:
    await cluster.start_worker()
    turn = await cluster.submit(step, say("I see."))
    await turn.until("completed")
    result = await finished(turn)
    assert result.outcome == "error"
    assert told in text(result)


async def test_an_oversized_result_fails_only_its_own_call(cluster: Cluster) -> None:
    await cluster.start_worker()
    turn = await cluster.submit(calls(("bulk", {"megabytes": 40}), ("add", {"a": 1, "b": 2})), say("done"))
    await turn.until("completed")
    outcomes = {e.payload.name: e.payload.outcome for e in await turn.of_type("tool.finished")}  # type: ignore[attr-defined]
    assert outcomes == {"bulk": "error", "add": "success"}


async def test_a_large_result_is_kept_whole(cluster: Cluster) -> None:
    await cluster.start_worker()
    turn = await cluster.submit(call("bulk", megabytes=20), say("done"))
    await turn.until("completed")
    result = await finished(turn)
    assert result.outcome == "success"
    assert len(text(result)) == 20 * 1024 * 1024


async def test_what_no_store_can_hold_is_repaired_visibly(cluster: Cluster) -> None:
    await cluster.start_worker()
    turn = await cluster.submit(call("mangled"), say("half \ud83d and \x00"))
    await turn.until("completed")
    assert text(await finished(turn)) == "nul ␀, half an emoji �"
    state = await cluster.journal.state(turn.key)
    assert state.context[-1].text == "half � and ␀"


async def test_a_tool_is_told_who_asks_and_gets_the_same_key_on_every_attempt(cluster: Cluster, tmp_path: Path) -> None:
    await cluster.start_worker()
    log = tmp_path / "log"
    turn = await cluster.submit(call("charge", log=str(log)), say("paid"))
    await turn.until("completed")
    (started,) = await turn.of_type("tool.started")
    key = started.payload.key  # type: ignore[attr-defined]
    assert log.read_text() == f"started 1 {key}\ndone 1\n"
    assert key.startswith(f"{turn.turn_id}/")
