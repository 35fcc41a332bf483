"""What crashes, is refused or goes missing under a turn: the journal decides what became of it."""

import asyncio
from pathlib import Path

import pytest
from temporalio.api.enums.v1 import EventType
from temporalio.api.workflowservice.v1 import ResetWorkflowExecutionRequest
from temporalio.testing import ActivityEnvironment

from tests.integration.runtime.bug import Bug
from tests.integration.runtime.cluster import Cluster, Turn
from tests.integration.runtime.gated import GatedModels
from tests.integration.runtime.outage import LostClaim, Outage, Unlucky
from tests.integration.runtime.scripts import call, say
from tests.integration.runtime.workers import SETTINGS
from turnwright.activities.runtime.attempt import Attempt
from turnwright.activities.runtime.attend import attend
from turnwright.journal.errors import JournalError, NewerReducer, StoreError, StoreUnavailable
from turnwright.workflows.payloads import Next, StepInput

UNDISTURBED = [
    "turn.queued",
    "turn.started",
    "run.claimed",
    "input.applied",
    "model.requested",
    "model.responded",
    "tool.decided",
    "tool.started",
    "tool.finished",
    "model.requested",
    "model.responded",
    "turn.completed",
]


async def in_a_tool(cluster: Cluster, tmp_path: Path, tool: str = "send") -> tuple[Turn, Path, Path]:
    """A turn in the middle of a tool call, what its tool leaves behind, and what ends the call."""
    log, gate = tmp_path / "log", tmp_path / "gate"
    turn = await cluster.submit(call(tool, log=str(log), wait_for=str(gate)), say("done"))
    await cluster.until_trace(log, "started")
    return turn, log, gate


async def test_a_terminated_workflow_is_restarted_and_its_running_tool_is_not_disturbed(
    cluster: Cluster, tmp_path: Path
) -> None:
    await cluster.start_worker()
    turn, log, gate = await in_a_tool(cluster, tmp_path)
    await turn.handle.terminate("an operator's mistake")
    await cluster.waker.thread(turn.key)
    await turn.until_entry("run.claimed", 2)
    gate.touch()
    await turn.until("completed")
    assert log.read_text().count("started") == 1
    assert [e.payload.outcome for e in await turn.of_type("tool.finished")] == ["success"]  # type: ignore[attr-defined]


async def test_a_terminated_workflow_nobody_restarts_loses_nothing_that_its_tool_did(
    cluster: Cluster, tmp_path: Path
) -> None:
    await cluster.start_worker()
    turn, log, gate = await in_a_tool(cluster, tmp_path)
    await turn.handle.terminate("an operator's mistake")
    gate.touch()
    await turn.until_entry("tool.finished")
    await turn.until("completed", nudging=True)
    assert log.read_text().count("started") == 1


async def test_a_terminated_thread_workflow_is_started_again_by_the_next_wake(cluster: Cluster) -> None:
    await cluster.start_worker()
    turn = await cluster.submit(say("first"))
    await turn.until("completed")
    await cluster.waker.thread(turn.key)
    await cluster.thread_handle(turn.key).terminate("an operator's mistake")
    following = await cluster.submit(say("second"))
    await following.until("completed")


async def reset_to_first_task(turn: Turn) -> None:
    history = await turn.handle.fetch_history()
    task = next(e.event_id for e in history.events if e.event_type == EventType.EVENT_TYPE_WORKFLOW_TASK_COMPLETED)
    request = ResetWorkflowExecutionRequest(
        namespace="default", reason="an operator's mistake", workflow_task_finish_event_id=task, request_id="reset"
    )
    request.workflow_execution.workflow_id = turn.handle.id
    await turn.cluster.client.workflow_service.reset_workflow_execution(request)


async def test_a_reset_workflow_goes_on_from_the_journal_and_repeats_nothing(cluster: Cluster, tmp_path: Path) -> None:
    await cluster.start_worker()
    turn, log, gate = await in_a_tool(cluster, tmp_path)
    await reset_to_first_task(turn)
    gate.touch()
    await turn.until("completed", nudging=True)
    assert log.read_text().count("started") == 1
    assert len(await turn.of_type("model.requested")) == 2


async def test_a_reset_of_a_finished_turn_changes_nothing(cluster: Cluster) -> None:
    await cluster.start_worker()
    turn = await cluster.submit(call("add", a=1, b=2), say("done"))
    await turn.until("completed")
    await turn.until_parked()
    before = await turn.types()
    await reset_to_first_task(turn)
    await turn.until_parked()
    assert await turn.types() == before


async def test_a_run_started_at_an_old_epoch_ends_without_writing(cluster: Cluster) -> None:
    models = GatedModels()
    await cluster.start_worker(models=models)
    turn = await cluster.submit(call("add", a=1, b=2), say("done"))
    await turn.until_entry("model.requested")
    await turn.pause()
    models.allow(2)
    await turn.until_pause("effective")
    await turn.until_parked()
    await turn.resume(wake=False)
    before = await turn.types()
    await cluster.waker.turn(turn.key, turn.turn_id, epoch=0)
    # It wakes the thread, whose turn then runs at the epoch of the journal.
    await turn.until("completed")
    epochs = [entry.epoch for entry in await turn.of_type("run.claimed")]
    assert epochs == [1, 2]
    assert (await turn.types())[: len(before) + 1] == [*before, "run.claimed"]


@pytest.mark.parametrize("lucky_every", [2, 3, 4])
async def test_lost_acknowledgements_of_commits_leave_no_trace(
    cluster: Cluster, tmp_path: Path, lucky_every: int
) -> None:
    worker = await cluster.start_worker()
    log = tmp_path / "log"
    worker.journal.driver.hook = Unlucky(lucky_every)
    turn = await cluster.submit(call("send", log=str(log)), say("done"))
    await turn.until("completed")
    assert await turn.types() == UNDISTURBED
    assert [line.split()[0] for line in log.read_text().splitlines()] == ["started", "done"]


@pytest.mark.parametrize(("point", "claim"), [("model:begun", "model.requested"), ("tool:begun", "tool.started")])
async def test_a_claim_whose_acknowledgement_was_lost_is_still_known_after_a_newer_run_took_the_turn(
    cluster: Cluster, tmp_path: Path, point: str, claim: str
) -> None:
    lost = LostClaim()

    async def arm(passed: str) -> None:
        if passed == point and not await turn.of_type(claim):
            lost.armed = True

    worker = await cluster.start_worker(boundary=arm)
    worker.journal.driver.hook = lost
    log = tmp_path / "log"
    turn = await cluster.submit(call("send", log=str(log)), say("done"), wake=False)
    await cluster.waker.thread(turn.key)
    await turn.until_entry(claim)
    await cluster.start_worker()
    await turn.handle.terminate("so that a newer run takes the turn")
    await turn.until_entry("run.claimed", 2, nudging=True)
    lost.on = False
    await turn.until("completed", nudging=True)
    assert len(await turn.of_type("model.requested")) == 2
    assert log.read_text().count("started") == 1


@pytest.mark.parametrize("error", [StoreUnavailable, StoreError, NewerReducer])
async def test_a_store_that_takes_nothing_for_a_while_delays_a_turn_and_repeats_nothing(
    cluster: Cluster, tmp_path: Path, error: type[JournalError]
) -> None:
    worker = await cluster.start_worker()
    worker.journal.driver.hook = outage = Outage(error)
    turn, log, gate = await in_a_tool(cluster, tmp_path)
    outage.on = True
    gate.touch()
    await cluster.until_trace(log, "done")

    async def tried() -> bool:
        return outage.refused > 5

    await cluster.until(tried)
    outage.on = False
    await turn.until("completed")
    assert await turn.types() == UNDISTURBED
    assert log.read_text().count("started") == 1


async def test_a_store_that_is_away_when_a_turn_begins_delays_it(cluster: Cluster) -> None:
    worker = await cluster.start_worker()
    worker.journal.driver.hook = outage = Outage()
    outage.on = True
    turn = await cluster.submit(call("add", a=1, b=2), say("done"))

    async def tried() -> bool:
        return outage.refused > 6  # more often than a local activity is repeated

    await cluster.until(tried)
    outage.on = False
    await turn.until("completed")
    assert await turn.types() == UNDISTURBED


@pytest.mark.parametrize("point", ["model:begun", "model:claimed", "tool:claimed"])
async def test_a_bug_in_the_worker_fails_the_turn_instead_of_repeating_for_ever(
    small_cluster: Cluster, point: str
) -> None:
    await small_cluster.start_worker(boundary=Bug(point))
    turn = await small_cluster.submit(call("add", a=1, b=2), say("never"))
    status = await turn.until("failed")
    assert (status.code, status.retryable) == ("internal", True)
    assert len(await turn.of_type("run.claimed")) <= 7
    assert len(await turn.of_type("model.requested")) <= 10


@pytest.mark.parametrize("point", ["model:begun", "model:claimed", "model:answered", "model:reported"])
async def test_a_bug_that_shows_only_once_costs_an_attempt_and_not_the_turn(small_cluster: Cluster, point: str) -> None:
    await small_cluster.start_worker(boundary=Bug(point, times=1))
    turn = await small_cluster.submit(call("add", a=1, b=2), say("done"))
    await turn.until("completed")


async def test_a_call_whose_result_a_bug_swallowed_waits_for_somebody_who_knows(
    cluster: Cluster, tmp_path: Path
) -> None:
    await cluster.start_worker(boundary=Bug("tool:ran"))
    log = tmp_path / "log"
    turn = await cluster.submit(call("send", log=str(log)), say("done"))
    await turn.until("waiting")
    assert log.read_text().count("done") == 1
    (started,) = await turn.of_type("tool.started")
    receipt = await turn.reconcile(started.payload.call_id, "succeeded")  # type: ignore[attr-defined]
    assert receipt.status == "accepted"
    await turn.until("completed")


async def test_an_attempt_that_temporal_gave_up_before_is_drained_all_the_same(small_cluster: Cluster) -> None:
    worker = await small_cluster.start_worker(settings=SETTINGS)
    environment = ActivityEnvironment()
    heard = asyncio.Event()

    async def carry_out(attempt: Attempt) -> Next:
        heard.set()
        await attempt.stop.wait()
        return Next("stop", why=attempt.stop.why or "")

    turn = await small_cluster.submit(wake=False)
    given = StepInput(turn.turn_id, epoch=1, step=1)
    running = asyncio.create_task(environment.run(attend, worker.activities.parts, given, carry_out))
    await heard.wait()
    environment.cancel()
    await asyncio.sleep(0)
    environment.worker_shutdown()
    assert (await running).why == "drained"
