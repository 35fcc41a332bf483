"""A worker loses its connection to the store, and with it the lock that says it lives, while it works."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.integration.runtime.scripts import call, say
from tests.integration.worker.conftest import run_sql
from tests.integration.worker.stack import Stack, until
from turnwright.worker.temporal_server import TemporalServer

pytestmark = pytest.mark.slow
BREAK_LOCKS = "SELECT pg_terminate_backend(pid) FROM pg_locks WHERE locktype = 'advisory'"


@pytest.fixture
async def stack(tmp_path: Path, postgres_url: str, temporal: TemporalServer) -> AsyncIterator[Stack]:
    async with Stack.open(tmp_path, postgres_url, temporal) as stack:
        yield stack


@pytest.mark.parametrize("tool", ["send", "transfer", "charge"])
async def test_what_it_runs_goes_on_and_nothing_is_given_up(stack: Stack, tool: str) -> None:
    log, gate = stack.folder / "log", stack.folder / "gate"
    workers = [await stack.ready_worker(), await stack.ready_worker()]
    turn = await stack.submit(call(tool, log=str(log), wait_for=str(gate)), say("done"))

    async def started() -> bool:
        return log.exists() and "started" in log.read_text()

    await until(started)
    await run_sql(stack.journal_url, BREAK_LOCKS)

    async def back() -> bool:
        return all(len(worker.said("presence_held")) > 1 for worker in workers)

    await until(back)
    gate.touch()
    assert (await turn.wait(40, until=["completed", "failed", "waiting"])).status == "completed"
    ended = [entry.payload.outcome for entry in await stack.entries(turn) if entry.type == "tool.finished"]  # type: ignore[attr-defined]
    assert log.read_text().count("started") == len(ended)
    assert ended == ["success"] or tool == "charge", "only what may be repeated is taken over on a mere silence"
