"""Workflow code runs in the sandbox: what it must not do is refused, and of ours only data is passed through."""

import importlib
from collections.abc import AsyncIterator

import pytest
from temporalio.api.enums.v1 import EventType
from temporalio.client import Client
from temporalio.worker import Worker

from tests.integration.runtime.cluster import Cluster
from tests.integration.runtime.lawless import OFFENCES, Lawless
from turnwright.workflows.sandbox import PASSED_THROUGH, workflow_runner


@pytest.fixture
async def client(small_cluster: Cluster) -> AsyncIterator[Client]:
    """A client with a worker that runs lawless workflows as ours are run."""
    client = small_cluster.client
    async with Worker(client, task_queue="lawless", workflows=[Lawless], workflow_runner=workflow_runner()):
        yield client


@pytest.mark.parametrize("offence", OFFENCES)
async def test_workflow_code_is_refused_what_would_differ_on_replay(
    small_cluster: Cluster, client: Client, offence: str
) -> None:
    workflow_id = f"{small_cluster.journal_id}-lawless"
    handle = await client.start_workflow(Lawless.run, offence, id=workflow_id, task_queue="lawless")

    async def refused() -> str:
        events = (await handle.fetch_history()).events
        failed = (e for e in events if e.event_type == EventType.EVENT_TYPE_WORKFLOW_TASK_FAILED)
        return next((e.workflow_task_failed_event_attributes.failure.message for e in failed), "")

    assert "Cannot access" in await small_cluster.until(refused)
    await handle.terminate()


async def test_nothing_of_ours_but_modules_of_data_is_passed_through_the_sandbox(
    small_cluster: Cluster, client: Client
) -> None:
    workflow_id = f"{small_cluster.journal_id}-lawful"
    inside = await client.execute_workflow(Lawless.run, "", id=workflow_id, task_queue="lawless")
    passed_through = {name for name, identity in inside.items() if id(importlib.import_module(name)) == identity}
    assert passed_through == set(PASSED_THROUGH) - {"structlog"}
    assert "turnwright.workflows.calls" in inside
