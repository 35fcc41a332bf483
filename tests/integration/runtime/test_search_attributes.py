"""People find a session's workflows by its name where Temporal knows our search attributes, and nothing needs them."""

from collections.abc import AsyncIterator

import pytest
from temporalio.api.operatorservice.v1 import RemoveSearchAttributesRequest

from tests.integration.runtime.cluster import Cluster
from tests.integration.runtime.scripts import call, say
from turnwright.worker.temporal_server import TemporalServer
from turnwright.workflows.ids import SEARCH_ATTRIBUTES


@pytest.fixture
async def own_cluster(sqlite_url: str) -> AsyncIterator[Cluster]:
    """On a Temporal of the test's own, which it may change."""
    async with TemporalServer() as server, Cluster.open(sqlite_url, server.address) as cluster:
        yield cluster


async def found(cluster: Cluster, query: str) -> set[str]:
    """The kinds of workflows that are found so."""
    return {one.id.split("/")[2] async for one in cluster.client.list_workflows(query)}


async def remove_attributes(cluster: Cluster) -> None:
    await cluster.client.operator_service.remove_search_attributes(
        RemoveSearchAttributesRequest(search_attributes=SEARCH_ATTRIBUTES, namespace=cluster.client.namespace)
    )


async def test_a_session_s_workflows_are_found_by_its_name(small_cluster: Cluster) -> None:
    await small_cluster.start_worker()
    turn = await small_cluster.submit(say("done"), thread="elsewhere")
    await turn.until("completed")
    mine = f"WorkflowId STARTS_WITH 'tw/{small_cluster.journal_id}/'"

    async def both() -> bool:
        return await found(small_cluster, f"TurnwrightSession = 's' AND {mine}") == {"thread", "turn"}

    await small_cluster.until(both)
    assert await found(small_cluster, f"TurnwrightTurn = '{turn.turn_id}'") == {"turn"}
    assert await found(small_cluster, f"TurnwrightAgent = 'bot' AND TurnwrightTenant = 't' AND {mine}") >= {"turn"}
    assert await found(small_cluster, f"TurnwrightSession = 'other' AND {mine}") == set()


async def test_turns_run_where_no_attribute_is_registered(own_cluster: Cluster) -> None:
    await remove_attributes(own_cluster)
    await own_cluster.start_worker()
    turn = await own_cluster.submit(call("add", a=1, b=2), say("done"))
    await turn.until("completed")


async def test_turns_go_on_when_attributes_are_taken_away_from_under_those_who_use_them(own_cluster: Cluster) -> None:
    await own_cluster.start_worker()
    first = await own_cluster.submit(say("done"))
    await first.until("completed")
    await remove_attributes(own_cluster)
    for _ in range(2):
        turn = await own_cluster.submit(call("add", a=1, b=2), say("done"))
        await turn.until("completed")
