"""Wake-ups reach a real Temporal, and a client that started without one finds it when it is there."""

import asyncio
from collections.abc import AsyncIterator
from functools import partial
from pathlib import Path

import pytest
from temporalio.client import Client as TemporalClient
from temporalio.client import WorkflowExecutionStatus, WorkflowHandle
from temporalio.service import RPCError

from tests.integration.client.conftest import Connect
from tests.integration.client.hands import AGENT
from turnwright.client import Budget, Client, ClientSettings, wakes
from turnwright.journal.driver import Driver
from turnwright.journal.store import Journal
from turnwright.journal.transact.serving import begin_serving, renew
from turnwright.worker import loopback
from turnwright.worker.temporal_server import TemporalServer
from turnwright.workflows.engine import identify
from turnwright.workflows.ids import default_task_queue, session_workflow_id, thread_workflow_id

pytestmark = pytest.mark.parametrize("journal_url", ["sqlite"], indirect=True)  # no store has a part in this


@pytest.fixture
async def server() -> AsyncIterator[TemporalServer]:
    """A Temporal that is not started yet, at an address that is known already."""
    server = TemporalServer(port=loopback.find_free())
    yield server
    await server.stop()


async def signals(handle: WorkflowHandle[object, object]) -> list[str]:
    """The signals a workflow was sent, in order."""
    return [
        event.workflow_execution_signaled_event_attributes.signal_name
        async for event in handle.fetch_history_events()
        if event.HasField("workflow_execution_signaled_event_attributes")
    ]


async def test_each_accepted_command_wakes_its_thread_or_session_once_temporal_is_there(
    driver: Driver, connect: Connect, server: TemporalServer
) -> None:
    client = await connect(temporal_address=server.address)
    session = client.session("ann", "s")
    await session.create()
    turn = await session.submit("one", agent=AGENT)
    assert server.address in (await client.flush() or "")
    await server.start()
    await turn.pause()
    assert await client.flush(30) is None
    temporal: TemporalClient = await server.connect()
    journal_id = await Journal(driver).journal_id()
    thread = temporal.get_workflow_handle(thread_workflow_id(journal_id, turn.key))
    whole = temporal.get_workflow_handle(session_workflow_id(journal_id, session.key))
    assert await signals(thread) == ["wake"]
    with pytest.raises(RPCError):
        await whole.describe()
    await session.pause()
    assert await client.flush(30) is None
    assert (await whole.describe()).status is WorkflowExecutionStatus.RUNNING
    assert await signals(whole) == ["wake"]
    await session.set_budget(Budget(steps=5))
    assert await client.flush(30) is None
    assert await signals(whole) == ["wake", "wake"]


async def test_all_commands_during_a_wake_up_are_followed_by_one_more(
    driver: Driver, journal_url: str, temporal: TemporalServer
) -> None:
    connected = asyncio.Event()

    async def connect_late() -> TemporalClient:
        await connected.wait()
        return await temporal.connect()

    async with Client.connect(ClientSettings(journal_url=journal_url, temporal=connect_late)) as client:
        session = client.session("ann", "s")
        await session.create()
        turn = await session.submit("one", agent=AGENT)
        await asyncio.sleep(0)  # its wake-up has begun
        for n in range(10):
            await turn.steer(f"{n}")
        connected.set()
        assert await client.flush(30) is None
        engine = await temporal.connect()
        handle = engine.get_workflow_handle(thread_workflow_id(await Journal(driver).journal_id(), turn.key))
        assert await signals(handle) == ["wake", "wake"]


async def test_a_rejected_command_wakes_nobody(driver: Driver, connect: Connect, temporal: TemporalServer) -> None:
    client = await connect(temporal_address=temporal.address)
    session = client.session("ann", "s")
    await session.submit("one", agent=AGENT, check=False)
    assert await client.flush(30) is None
    ours = f"WorkflowId STARTS_WITH 'tw/{await Journal(driver).journal_id()}/'"
    assert [workflow async for workflow in (await temporal.connect()).list_workflows(ours)] == []


async def test_a_temporal_through_which_the_journal_is_not_served_is_sent_no_wake_up(
    driver: Driver, connect: Connect, temporal: TemporalServer
) -> None:
    engine = await temporal.connect()
    client = await connect(temporal_address=temporal.address)
    session = client.session("ann", "s")
    await session.create()
    await client.flush(30)
    worker = await driver.hold_presence("w-1", {}, lease_s=60)
    journal_id = await Journal(driver).journal_id()
    try:
        await driver.write(partial(begin_serving, worker.name, "another/namespace", journal_id))
        turn = await session.submit("one", agent=AGENT)
        assert "another Temporal" in (await client.flush(30) or "")
        thread = engine.get_workflow_handle(thread_workflow_id(journal_id, turn.key))
        with pytest.raises(RPCError):
            await thread.describe()
        await driver.write(partial(begin_serving, worker.name, await identify(engine), journal_id))
        await turn.pause()
        assert await client.flush(30) is None
        assert await signals(thread) == ["wake"]
    finally:
        await worker.release()


async def test_a_client_wakes_what_it_commits_under_the_id_that_the_journal_has_by_then(
    driver: Driver, connect: Connect, temporal: TemporalServer
) -> None:
    engine = await temporal.connect()
    client = await connect(temporal_address=temporal.address)
    session = client.session("ann", "s")
    await session.create()
    first, earlier = await session.submit("one", agent=AGENT), await Journal(driver).journal_id()
    assert await client.flush(30) is None
    now = f"{earlier}-anew"
    await driver.write(partial(renew, now))
    await session.submit("two", agent=AGENT)
    assert await client.flush(30) is None
    under_each = [
        engine.get_workflow_handle(thread_workflow_id(journal_id, first.key)) for journal_id in (earlier, now)
    ]
    assert [await signals(handle) for handle in under_each] == [["wake"], ["wake"]]
    assert (await under_each[1].describe()).task_queue == default_task_queue(now)


async def test_a_flush_waits_no_longer_than_it_is_told_for_what_sends_wake_ups_to_be_loaded(
    connect: Connect, server: TemporalServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    gate = tmp_path / "gate"
    source = f"import pathlib, time\nwhile not pathlib.Path({str(gate)!r}).exists():\n    time.sleep(0.01)\n"
    (tmp_path / "slow_to_load.py").write_text(source, "utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(wakes, "ENGINE", "slow_to_load")
    client = await connect(temporal_address=server.address)
    session = client.session("ann", "s")
    try:
        await session.create()
        await session.submit("one", agent=AGENT)
        async with asyncio.timeout(10):
            assert await client.flush(0.05) == "no answer in 0.05 s"
    finally:
        gate.touch()
