"""A turn of its caller's own transaction runs after the commit, whoever dies between that and its first step."""

from collections.abc import AsyncIterator
from typing import Any, TypeAlias

import asyncpg
import pytest

from tests.faults.harness.recovering import recover
from tests.faults.harness.scripts import say, task
from tests.faults.harness.world import World

pytestmark = pytest.mark.parametrize("journal_url", ["postgres"], indirect=True)
NOBODY_SWEEPS = {"stall_s": 3_600}
WHILE_IT_IS_TAKEN_IN = ("kill@take_enlisted:1", "kill@commit:1", "kill@committed:1")

Caller: TypeAlias = Any  # a connection of asyncpg, which ships no types


@pytest.fixture
async def caller(postgres_server: str) -> AsyncIterator[Caller]:
    """A connection to the application's own tables, in the journal's database."""
    connection = await asyncpg.connect(postgres_server)
    await connection.execute("CREATE TABLE orders (id integer PRIMARY KEY, turn_id text)")
    yield connection
    await connection.execute("DROP TABLE orders")
    await connection.close()


async def test_a_worker_runs_it_at_once_after_the_commit_with_nobody_to_sweep(world: World, caller: Caller) -> None:
    await world.start_worker(settings=NOBODY_SWEEPS)
    async with caller.transaction():
        turn = await world.thread().submit(task(say("refunded")), connection=caller)
        await caller.execute("INSERT INTO orders VALUES (1, $1)", turn.id)
        other = await world.thread("other").submit(task(say("told")), connection=caller)
    found = await world.client.turn(await caller.fetchval("SELECT turn_id FROM orders"))
    assert (await found.result()).text == "refunded"
    await world.until_status(other, "completed")


async def test_workers_killed_while_they_take_it_in_neither_lose_nor_repeat_it(world: World, caller: Caller) -> None:
    workers = [world.prepare_worker(fault=fault) for fault in (*WHILE_IT_IS_TAKEN_IN, "")]
    async with caller.transaction():
        turn = await world.thread().submit(task(say("done")), connection=caller)
    for victim in workers[:-1]:
        world.ledger.open(victim.name)
        await victim.until_ended()
    await world.let_work(workers[-1])
    await world.until_status(turn, "completed")
    assert (await world.types(turn)).count("turn.queued") == 1


async def test_recovery_by_hand_takes_it_in_while_no_worker_lives_and_says_what_it_could_not(
    world: World, caller: Caller
) -> None:
    async with caller.transaction():
        turn = await world.thread().submit(task(say("refunded")), connection=caller)
    code, told = await recover(world)
    assert (code, told[-1]["taken_in"]) == (0, 1)
    await world.until_status(turn, "queued")
    async with caller.transaction():
        await world.thread().submit(task(say("again")), connection=caller)
    schema = world.journal_url.rpartition("schema=")[2]
    await caller.execute(f'UPDATE "{schema}".inbox SET body = $1', b"{")
    code, told = await recover(world)
    assert (code, told[0]["not_taken_in"]) == (1, turn.key.canonical)
    assert (told[-1]["taken_in"], told[-1]["left"]) == (0, 1)
