"""A new incarnation: the journal's id is changed, and what Temporal still holds under the old one is ended.

Rule: a journal put back to a backup is older than its workflows. They know epochs, runs and calls that it never saw
and would meet the ones it is about to give out again, so nothing that was begun under the old id may act on it.
"""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from functools import partial

from temporalio.client import Client
from temporalio.service import RPCError, RPCStatusCode

from turnwright.journal.driver import Driver
from turnwright.journal.errors import CommandRejected
from turnwright.journal.store import Journal
from turnwright.journal.transact.serving import Incarnation, find_rival, note_ended, renew, unended_ids
from turnwright.workflows.engine import RPC_TIMEOUT, TemporalUnreachable, identify
from turnwright.workflows.schedules import end_schedules


async def check_unserved(journal: Journal) -> str:
    """The journal's id, if no worker lives on it.

    Raises:
        CommandRejected: `journal_served`, one does.
    """
    alive = [seen for seen in await journal.driver.presences() if seen.liveness.state == "alive"]
    _refuse([f"{seen.presence_id} (process {seen.info.get('pid', 'unknown')})" for seen in alive])
    return await journal.journal_id()


async def begin_incarnation(journal: Journal) -> Incarnation:
    """Give the journal a new id.

    Raises:
        CommandRejected: `journal_served`, a worker lives on it.
    """
    await check_unserved(journal)
    incarnation = await journal.driver.write(partial(renew, secrets.token_hex(8)))
    _refuse([rival.presence for rival in incarnation.rivals])
    return incarnation


def _refuse(workers: Sequence[str]) -> None:
    if workers:
        raise CommandRejected("journal_served", f"workers serve the journal: {', '.join(workers)}; stop them first")


async def check_engine(client: Client, journal: Journal) -> str:
    """Which Temporal this is, if no worker serves the journal through another one.

    Raises:
        CommandRejected: `served_elsewhere`, one does.
        TemporalUnreachable: it does not answer.
    """
    engine = await identify(client)
    rival = await journal.driver.read(partial(find_rival, "", engine))
    if rival is not None:
        raise CommandRejected(
            "served_elsewhere",
            f"worker {rival.presence} serves the journal through another Temporal ({rival.engine}) than this one "
            f"({engine}): say its address, as with TURNWRIGHT_TEMPORAL_ADDRESS",
        )
    return engine


async def end_earlier(client: Client, engine: str, driver: Driver, most: int | None = None) -> int:
    """End what a Temporal, by its `engine`, holds of the journal's earlier ids; how many of it, `most` at a time.

    Raises:
        TemporalUnreachable: it does not answer, or refuses.
    """
    ended = 0
    for earlier in await driver.read(partial(unended_ids, engine)):
        left = None if most is None else most - ended
        try:
            ended += await end_schedules(client, earlier, left)
            left = None if most is None else max(1, most - ended)
            ended += await _end_workflows(client, earlier, left)
        except RPCError as error:
            raise TemporalUnreachable(f"Temporal does not end what it has of the id {earlier}: {error}") from None
        if most is not None and ended >= most:
            break
        await driver.write(partial(note_ended, earlier, engine))
    return ended


async def _end_workflows(client: Client, journal_id: str, most: int | None) -> int:
    """Terminate what Temporal runs under an id; how many it listed, some of which may have ended meanwhile."""
    query = f"WorkflowId STARTS_WITH 'tw/{journal_id}/' AND ExecutionStatus = 'Running'"
    seen = 0
    async for found in client.list_workflows(query, limit=most, rpc_timeout=RPC_TIMEOUT):
        handle = client.get_workflow_handle(found.id, run_id=found.run_id)
        try:
            await handle.terminate(reason="its journal has a new id", rpc_timeout=RPC_TIMEOUT)
        except RPCError as error:
            if error.status is not RPCStatusCode.NOT_FOUND:
                raise
        seen += 1
    return seen
