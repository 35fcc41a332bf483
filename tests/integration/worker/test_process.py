"""Worker processes from their start to their end: drained, killed, and while Temporal comes and goes."""

import asyncio
import json
import signal
import sys
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.integration.runtime.scripts import call, say
from tests.integration.worker.stack import ROOT, Stack, until, until_shows
from turnwright.client.turn import Turn
from turnwright.journal.drivers import open_driver
from turnwright.journal.entries import ToolFinished
from turnwright.journal.snapshots.files import FileSnapshots
from turnwright.journal.snapshots.snapshot import SnapshotKey
from turnwright.journal.why import Code
from turnwright.worker.temporal_server import TemporalServer

pytestmark = pytest.mark.slow


@pytest.fixture
async def stack(tmp_path: Path, sqlite_url: str, temporal: TemporalServer) -> AsyncIterator[Stack]:
    async with Stack.open(tmp_path, sqlite_url, temporal) as stack:
        yield stack


@pytest.fixture
async def each_store(tmp_path: Path, journal_url: str, temporal: TemporalServer) -> AsyncIterator[Stack]:
    async with Stack.open(tmp_path, journal_url, temporal) as stack:
        yield stack


@pytest.fixture
async def doomed(tmp_path: Path, sqlite_url: str, mortal: TemporalServer) -> AsyncIterator[Stack]:
    """On a Temporal of its own."""
    async with Stack.open(tmp_path, sqlite_url, mortal) as stack:
        yield stack


@pytest.fixture
async def each_doomed(tmp_path: Path, journal_url: str, mortal: TemporalServer) -> AsyncIterator[Stack]:
    async with Stack.open(tmp_path, journal_url, mortal) as stack:
        yield stack


async def until_running(turn: Turn, log: Path) -> None:
    async def started() -> bool:
        return log.exists() and "started" in log.read_text()

    await until(started)


async def presences(stack: Stack) -> list[str]:
    driver = open_driver(stack.journal_url)
    await driver.start()
    try:
        return [seen.presence_id for seen in await driver.presences() if seen.liveness.state == "alive"]
    finally:
        await driver.stop()


async def test_a_worker_carries_out_turns_and_leaves_nothing_when_it_is_told_to_end(each_store: Stack) -> None:
    folder = each_store.folder / "transcripts"
    worker = await each_store.ready_worker(snapshots=f"file://{each_store.folder}/snapshots", transcripts=folder)
    turn = await each_store.submit(call("add", a=1, b=2), say("It is {result}."))
    assert (await turn.result(timeout_s=30)).text == "It is 3."
    kept, key = FileSnapshots(each_store.folder / "snapshots"), SnapshotKey(turn.key)

    async def is_kept() -> bool:
        found = await kept.load(key)
        return found is not None and b"It is 3." in found.payload

    async def is_written() -> bool:
        return "turn.completed" in "".join(log.read_text() for log in folder.glob("*/*/s.log.jsonl"))

    await until(is_kept)
    await until(is_written)
    assert len(await presences(each_store)) == 1
    worker.send(signal.SIGTERM)
    assert await worker.ended() == 0
    assert worker.said("worker_stopped")
    assert await presences(each_store) == []


async def test_a_worker_that_is_named_in_an_entry_is_found_in_the_journals_statistics(stack: Stack) -> None:
    worker = await stack.ready_worker()
    turn = await stack.submit(call("add", a=1, b=2), say("done"))
    await turn.result(timeout_s=30)
    [started] = [entry.payload for entry in await stack.entries(turn) if entry.type == "tool.started"]
    command = (
        sys.executable,
        "-m",
        "turnwright.worker.main",
        "--journal",
        stack.journal_url,
        "journal",
        "stats",
        "--json",
    )
    process = await asyncio.create_subprocess_exec(*command, cwd=ROOT, stdout=asyncio.subprocess.PIPE)
    [listed] = json.loads((await process.communicate())[0])["workers"]
    assert listed["presence"] == started.presence  # type: ignore[attr-defined]
    assert (listed["worker"], listed["pid"], listed["state"]) == ("worker-1", worker.pid, "alive")
    assert "add" in listed["tools"][turn.key.agent]
    assert (await worker.until_said("presence_held"))["pid"] == worker.pid


async def test_a_tool_call_that_ends_within_the_drain_is_finished_and_not_repeated(stack: Stack) -> None:
    log, gate = stack.folder / "log", stack.folder / "gate"
    worker = await stack.ready_worker()
    turn = await stack.submit(call("send", log=str(log), wait_for=str(gate)), say("sent"))
    await until_running(turn, log)
    worker.send(signal.SIGTERM)
    await worker.until_said("worker_draining")
    gate.touch()
    assert await worker.ended() == 0
    await stack.ready_worker()
    assert (await turn.result(timeout_s=30)).text == "sent"
    assert log.read_text().count("started") == 1


async def test_what_does_not_end_within_the_drain_is_handed_over(stack: Stack) -> None:
    log = stack.folder / "log"
    worker = await stack.ready_worker(drain_timeout_s=0.5, cancel_grace_s=0.5)
    gate = stack.folder / "gate"
    turn = await stack.submit(call("look", log=str(log), wait_for=str(gate)), say("seen"))
    await until_running(turn, log)
    worker.send(signal.SIGINT)
    assert await worker.ended() == 0
    gate.touch()
    await stack.ready_worker()
    assert (await turn.result(timeout_s=30)).text == "seen"
    ended = [entry.payload for entry in await stack.entries(turn)]
    assert [one.outcome for one in ended if isinstance(one, ToolFinished)] == ["drained", "success"]


async def test_a_second_ctrl_c_does_not_wait(stack: Stack) -> None:
    log = stack.folder / "log"
    worker = await stack.ready_worker(drain_timeout_s=600)
    turn = await stack.submit(call("look", log=str(log), wait_for=str(stack.folder / "never")), say("seen"))
    await until_running(turn, log)
    worker.send(signal.SIGINT)
    await worker.until_said("worker_draining")
    worker.send(signal.SIGINT)
    assert await worker.ended() == 130


async def test_a_killed_worker_s_turn_is_carried_on_by_another(each_store: Stack) -> None:
    log, gate = each_store.folder / "log", each_store.folder / "gate"
    first = await each_store.ready_worker()
    turn = await each_store.submit(call("look", log=str(log), wait_for=str(gate)), say("seen"))
    await until_running(turn, log)
    second = await each_store.ready_worker()
    first.kill()
    gate.touch()
    assert (await turn.result(timeout_s=30)).text == "seen"
    assert second.said("roused")


async def test_a_worker_started_before_temporal_waits_for_it(doomed: Stack) -> None:
    await doomed.server.stop()
    worker = await doomed.worker()
    await worker.until_said("waiting")
    turn = await doomed.submit(say("hello"))
    await doomed.server.start()
    assert (await turn.result(timeout_s=30)).text == "hello"


async def until_waits_for(turn: Turn, code: Code) -> str:
    """What it says then."""
    told = await turn.why()

    async def is_so() -> bool:
        nonlocal told
        told = await turn.why()
        return told.code == code

    await until(is_so)
    return told.text


async def test_a_turn_that_finds_every_slot_taken_says_so_and_runs_when_one_is_free(stack: Stack) -> None:
    log, gate = stack.folder / "log", stack.folder / "gate"
    await stack.ready_worker(max_concurrent_activities=1)
    first = await stack.submit(call("look", log=str(log), wait_for=str(gate)), say("seen"), thread="first")
    await until_running(first, log)
    second = await stack.submit(say("hello"), thread="second")
    assert "is busy: 1 of 1 calls run" in await until_waits_for(second, "busy")
    gate.touch()
    assert (await second.result(timeout_s=30)).text == "hello"
    assert (await first.result(timeout_s=30)).text == "seen"


async def test_a_turn_whose_living_worker_cannot_reach_temporal_says_so_until_it_is_back(doomed: Stack) -> None:
    await doomed.ready_worker()
    await doomed.server.stop()
    turn = await doomed.submit(say("hello"))
    assert "have not reached Temporal for" in await until_waits_for(turn, "temporal_away")
    await doomed.server.start()
    assert (await turn.result(timeout_s=30)).text == "hello"


async def test_a_draining_worker_hands_over_and_ends_also_while_temporal_is_down(doomed: Stack) -> None:
    log = doomed.folder / "log"
    worker = await doomed.ready_worker(drain_timeout_s=1, cancel_grace_s=1)
    turn = await doomed.submit(call("look", log=str(log), wait_for=str(doomed.folder / "never")), say("seen"))
    await until_running(turn, log)
    await doomed.server.stop()
    worker.send(signal.SIGTERM)
    assert await worker.ended() == 0
    assert await presences(doomed) == []
    last = (await doomed.entries(turn))[-1].payload
    assert isinstance(last, ToolFinished)
    assert last.outcome == "drained"


async def test_turns_go_on_after_temporal_lost_everything_and_paused_ones_stay_paused(each_doomed: Stack) -> None:
    log, gate = each_doomed.folder / "log", each_doomed.folder / "gate"
    worker = await each_doomed.ready_worker()
    running = await each_doomed.submit(call("look", log=str(log), wait_for=str(gate)), say("ran"), thread="running")
    queued = await each_doomed.submit(say("queued"), thread="running")
    paused = await each_doomed.submit(call("add", a=1, b=1), say("resumed"), thread="paused")
    await paused.pause()
    await until_running(running, log)
    await until_shows(paused, "paused")
    each_doomed.server.kill()
    each_doomed.server.erase()
    later = await each_doomed.submit(say("later"), thread="later")
    gate.touch()
    await each_doomed.server.start()
    for turn, text in ((running, "ran"), (queued, "queued"), (later, "later")):
        assert (await turn.result(timeout_s=60)).text == text
    assert (await paused.status()).status == "paused"
    await paused.resume()
    assert (await paused.result(timeout_s=60)).text == "resumed"
    assert worker.process.is_running


async def test_a_worker_that_cannot_start_says_why_on_one_line(stack: Stack) -> None:
    for settings, wanted in (
        ({"agents": "nowhere:registry"}, "there is no module nowhere"),
        ({"journal_url": f"sqlite:///{stack.folder}/none.db"}, "there is no journal at"),
        ({"stall_s": "soon"}, "TURNWRIGHT_STALL_S"),
    ):
        worker = await stack.worker(**settings)
        assert await worker.ended() == 2
        [line] = worker.log_file.read_text().splitlines()
        assert wanted in line


async def test_a_namespace_that_is_not_there_is_waited_for_and_told_about_once(stack: Stack) -> None:
    worker = await stack.worker(temporal_namespace="nowhere")
    assert "nowhere" in (await worker.until_said("waiting"))["error"]
    worker.send(signal.SIGTERM)
    assert await worker.ended() == 0
    assert len(worker.said("waiting")) == 1
