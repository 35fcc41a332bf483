"""`turnwright recover`: what it finds and brings back, and a journal that was put back to a backup."""

import sqlite3
from pathlib import Path

from temporalio.client import WorkflowExecutionStatus

from tests.faults.harness.recovering import recover
from tests.faults.harness.scripts import call, say
from tests.faults.harness.world import World
from turnwright.client import Turn
from turnwright.workflows.ids import thread_workflow_id

NOWHERE = "127.0.0.1:9"
SLEEPY = {"sweep_interval_s": 600, "stall_s": 600}


async def test_a_turn_whose_workflow_was_terminated_is_told_of_and_brought_back_by_hand(world: World) -> None:
    """No worker looks after it by itself within this test."""
    await world.start_worker(settings=SLEEPY)
    turn = await world.submit(call("charge", after="gate"), say("{result}"))
    await world.until_ledger("effect", "charge")
    await world.terminate_workflow(turn)
    world.ledger.open("gate")
    await world.until_entry(turn.key, "tool.finished")
    code, (case, total) = await recover(world, "--dry-run")
    assert (code, case["turn"], case["found"], case["done"]) == (0, turn.id, "stalled", [])
    assert case["temporal"]["turn"] == "gone"
    assert "make the model call of step 2" in case["why"]
    assert total == {"found": 1, "recovered": 0, "left": 0, "unreadable": 0, "taken_in": 0, "erased": 0}
    code, (case, total) = await recover(world)
    assert (code, case["done"], total["recovered"]) == (0, ["turn_restarted", "woken"], 1)
    await world.until_status(turn, "completed")
    nothing = {"found": 0, "recovered": 0, "left": 0, "unreadable": 0, "taken_in": 0, "erased": 0}
    assert await recover(world) == (0, [nothing])


async def test_a_journal_that_workers_serve_gets_no_new_id(small_world: World) -> None:
    worker = await small_world.start_worker()
    before = await small_world.journal.journal_id()
    code, [refusal] = await recover(small_world, "--new-incarnation")
    assert (code, refusal["error"]["code"]) == (1, "journal_served")
    assert str(worker.pid) in refusal["error"]["message"]
    assert await small_world.journal.journal_id() == before


async def test_under_its_new_id_a_journal_put_back_to_a_backup_meets_nothing_of_the_time_after_it(
    small_world: World, tmp_path: Path
) -> None:
    """Its workflow is at a later epoch than the journal, and was started on the task queue that is still used."""
    world, backup = small_world, tmp_path / "backup.db"
    first = await world.start_worker()
    turn = await world.submit(call("charge", before="gate"), call("post"), say("{result}"))
    await world.until_ledger("began", "charge")
    copy(world.file, backup)
    first.kill()
    second = await world.start_worker(fault="kill@tool:claimed:2")
    world.ledger.open("gate")
    await second.until_ended()
    before, last = await world.journal.journal_id(), await world.entries(turn.key)
    copy(backup, world.file)
    assert len(await world.entries(turn.key)) < len(last)
    code, told = await recover(world, "--new-incarnation")
    assert (code, told[0]["earlier"]) == (0, before)
    assert told[0]["journal_id"] == await world.journal.journal_id() != before
    assert told[1]["workflows_ended"] >= 1
    late = await world.start_worker()
    await world.wake_as(before, turn)  # from a client that does not know
    await world.until_status(turn, "completed")
    await late.until_logged("task_of_earlier_incarnation")
    assert [len(set(world.ledger.keys("effect", tool))) for tool in ("charge", "post")] == [1, 1]


async def test_what_temporal_holds_of_earlier_ids_is_ended_when_it_is_there_again_and_only_once(
    small_world: World,
) -> None:
    """Once: an original of which this journal is a copy still works under the id that both had."""
    world, first = small_world, await small_world.journal.journal_id()
    turn = await world.submit(say("hello"))
    assert await world.client.flush() is None
    code, [renewed, *_] = await recover(world, "--new-incarnation", temporal=NOWHERE)
    assert (code, renewed["earlier"], await runs(world, first, turn)) == (0, first, True)
    worker = await world.start_worker(settings={"task_queue": "nobody-else-s"})
    await worker.until_logged("earlier_incarnation_ended")
    assert not await runs(world, first, turn)
    worker.kill()
    second = renewed["journal_id"]
    await recover(world, "--new-incarnation", temporal=NOWHERE)
    for journal_id in (first, second):
        await world.wake_as(journal_id, turn)
    code, [ended, *_] = await recover(world)
    assert (code, ended["workflows_ended"] >= 1) == (0, True), "the thread's, and the turn's if the worker got that far"
    assert (await runs(world, first, turn), await runs(world, second, turn)) == (True, False)


async def runs(world: World, journal_id: str, turn: Turn) -> bool:
    """Whether the turn's thread has a workflow under this id of its journal."""
    temporal = await world.temporal.connect()
    found = await temporal.get_workflow_handle(thread_workflow_id(journal_id, turn.key)).describe()
    return found.status is WorkflowExecutionStatus.RUNNING


def copy(source: Path, target: Path) -> None:
    """As a backup tool does, while others have the file open."""
    with sqlite3.connect(source) as one, sqlite3.connect(target) as other:
        one.backup(other)
    one.close()
    other.close()
