"""Signals typed by hand, with Temporal's own tools: whatever they carry, the turn goes on."""

import asyncio
from pathlib import Path
from typing import Any

import pytest

from tests.integration.runtime.cluster import Cluster, Turn
from tests.integration.runtime.gated import GatedModels
from tests.integration.runtime.scripts import call, say
from tests.integration.runtime.workers import CACHED
from turnwright.worker.temporal_command import build_environment, find_program

NONSENSE: list[list[Any]] = [[], ["text"], [1, 2, 3], [{"revision": "x"}], [None], [["a"] * 50]]


async def type_signal(turn: Turn, name: str, *more: str) -> None:
    """As an operator does in a terminal."""
    options = ["--address", turn.cluster.address, "--workflow-id", turn.handle.id, "--name", name, *more]
    process = await asyncio.create_subprocess_exec(
        str(find_program()), "workflow", "signal", *options, env=build_environment(), stdout=asyncio.subprocess.PIPE
    )
    await process.communicate()
    assert process.returncode == 0


async def notes(turn: Turn) -> list[str]:
    status = await turn.handle.query("status")
    return list(status["notes"])


async def running(cluster: Cluster, tmp_path: Path) -> tuple[Turn, Path]:
    """A turn in the middle of a tool call, and what ends that call."""
    await cluster.start_worker()
    log, gate = tmp_path / "log", tmp_path / "gate"
    turn = await cluster.submit(call("look", log=str(log), wait_for=str(gate)), say("done"))
    await cluster.until_trace(log, "started")
    return turn, gate


@pytest.mark.parametrize("args", NONSENSE, ids=[str(len(args)) + str(args)[:12] for args in NONSENSE])
async def test_any_signal_with_any_arguments_leaves_the_turn_going(
    small_cluster: Cluster, tmp_path: Path, args: list[Any]
) -> None:
    turn, gate = await running(small_cluster, tmp_path)
    for name in ("wake", "resume", "frobnicate", "left"):
        await turn.handle.signal(name, args=args)
    await small_cluster.thread_handle(turn.key).signal("pause", args=args)
    gate.touch()
    await turn.until("completed")


@pytest.mark.parametrize("args", NONSENSE[:4], ids=["none", "text", "three", "object"])
async def test_a_hand_typed_pause_is_journaled_whatever_it_carries(
    small_cluster: Cluster, tmp_path: Path, args: list[Any]
) -> None:
    turn, gate = await running(small_cluster, tmp_path)
    await turn.handle.signal("pause", args=args)
    (entry,) = await turn.until_entry("turn.pause_requested")
    assert entry.payload.principal == "temporal signal"  # type: ignore[attr-defined]
    gate.touch()
    await turn.until_pause("effective")
    await turn.resume()
    await turn.until("completed")


async def test_a_hand_typed_resume_needs_no_revision(cluster: Cluster) -> None:
    models = GatedModels()
    await cluster.start_worker(models=models)
    turn = await cluster.submit(call("add", a=1, b=2), say("done"))
    await turn.until_entry("model.requested")
    await turn.handle.signal("pause")
    await turn.until_pause("requested")
    await turn.handle.signal("resume")
    await turn.until_pause("none")
    models.allow(2)
    await turn.until("completed")


async def test_a_hand_typed_command_that_is_rejected_is_visible_in_the_status(
    small_cluster: Cluster, tmp_path: Path
) -> None:
    turn, gate = await running(small_cluster, tmp_path)
    await turn.handle.signal("resume")
    await turn.handle.signal("restart", "please")

    async def told() -> bool:
        said = " ".join(await notes(turn))
        return "not paused" in said and "restart" in said

    await small_cluster.until(told)
    assert (await turn.status()).phase == "running"
    gate.touch()
    await turn.until("completed")


async def test_commands_typed_in_a_terminal_without_any_input_work(small_cluster: Cluster, tmp_path: Path) -> None:
    turn, gate = await running(small_cluster, tmp_path)
    await type_signal(turn, "pause")
    await turn.until_pause("requested")
    await type_signal(turn, "resume", "--input", '"now"')
    await turn.until_pause("none")
    await type_signal(turn, "wake", "--input", "[1,2]", "--input", "{}")
    await type_signal(turn, "no such command")
    await type_signal(turn, "cancel", "--input", "{}")
    await turn.until("cancelled")
    await turn.until_parked()
    assert not gate.exists()


async def test_temporals_own_cancel_means_cancel(cluster: Cluster, tmp_path: Path) -> None:
    turn, _ = await running(cluster, tmp_path)
    await turn.handle.cancel()
    status = await turn.until("cancelled")
    assert status.code == "cancelled_by_turn"
    await turn.until_parked()
    following = await cluster.submit(say("next"))
    await following.until("completed")


@pytest.mark.skipif(CACHED == 0, reason="each of a thousand signals would replay all before it")
async def test_a_flood_of_signals_is_bounded_and_the_turn_goes_on(small_cluster: Cluster, tmp_path: Path) -> None:
    turn, gate = await running(small_cluster, tmp_path)
    for n in range(20):
        await asyncio.gather(*(turn.handle.signal(("wake", "pause", "nonsense")[n % 3]) for _ in range(50)))

    async def held() -> bool:
        return (await turn.status()).pause == "requested" and len(await notes(turn)) <= 20

    await small_cluster.until(held)
    gate.touch()
    await turn.until_pause("effective")
    assert len(await turn.of_type("turn.pause_requested")) == 1
    await turn.resume()
    await turn.until("completed")
