"""What a worker leaves behind when it ends: nothing that still runs, whatever it stood on."""

import asyncio
import os
import signal
from pathlib import Path

import pytest
from temporalio import workflow
from temporalio.worker import UnsandboxedWorkflowRunner, Worker

from turnwright.activities.registry import Registry
from turnwright.worker import underway
from turnwright.worker.process import WorkerProcess
from turnwright.worker.settings import Settings
from turnwright.worker.shift import Shift
from turnwright.worker.temporal_server import TemporalServer
from turnwright.worker.underway import Underway, let_go


@workflow.defn
class Silent:
    """Says nothing."""

    @workflow.run
    async def run(self) -> None:
        """End."""


async def test_a_temporal_that_does_not_let_go_keeps_nothing_of_its_worker_here(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(underway, "UNHEARD_S_MAX", 0.05)
    async with TemporalServer(tmp_path / "temporal.db") as server:
        client = await server.connect()
        worker = Worker(client, task_queue="q", workflows=[Silent], workflow_runner=UnsandboxedWorkflowRunner())
        working = asyncio.create_task(worker.run())
        while not worker.is_running:
            await asyncio.sleep(0.01)
        os.kill(server.pid, signal.SIGSTOP)
        try:
            before = asyncio.all_tasks() - {working}
            await let_go(worker, working, Underway())
            assert working.done()
            assert [task for task in asyncio.all_tasks() - before if task.get_name() == "temporal-worker-ending"] == []
        finally:
            os.kill(server.pid, signal.SIGCONT)


class Failing:
    """A worker of Temporal's that fails at once, as when its namespace is gone."""

    async def run(self) -> None:
        raise RuntimeError("gone")

    async def shutdown(self) -> None:
        return


class Reluctant:
    """An actor that takes a moment to stop."""

    stopped = False

    async def start(self) -> None:
        return

    async def stop(self) -> None:
        await asyncio.sleep(0.05)
        self.stopped = True


async def test_a_shift_whose_worker_failed_does_not_end_before_its_actors() -> None:
    actor, shift = Reluctant(), object.__new__(Shift)
    vars(shift).update(_worker=Failing(), _leading=(actor,), _underway=Underway())
    with pytest.raises(RuntimeError, match="gone"):
        await shift._run(asyncio.Event(), asyncio.get_running_loop().create_future())
    assert actor.stopped


async def test_what_a_stopped_worker_had_begun_to_open_is_put_away_before_it_goes_on(sqlite_url: str) -> None:
    process = WorkerProcess(Settings(journal_url=sqlite_url), Registry())
    put_away = False

    async def opening() -> str:
        nonlocal put_away
        try:
            await asyncio.Event().wait()
        finally:
            await asyncio.sleep(0)
            put_away = True
        return "open"

    asyncio.get_running_loop().call_soon(process.stop)
    assert await process._unless_stopped(opening()) is None
    assert put_away
