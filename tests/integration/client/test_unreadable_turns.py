"""Of a turn that stands still because its thread cannot be read, that is what is told."""

from functools import partial

import pytest

from tests.integration.client.hands import AGENT, Hands
from tests.integration.client.terminal import Run, lines, shown
from tests.integration.worker.conftest import Sql, run_sql
from turnwright.client import Session, Turn
from turnwright.journal.store import Journal
from turnwright.worker.recovery import Case, Recovery

DAMAGE = "UPDATE payloads SET body = $1 WHERE seq = 2 AND thread_id = (SELECT id FROM threads WHERE thread = 'main')"
A_MINUTE_AGO = "UPDATE threads SET at_us = at_us - 60000000"


@pytest.fixture
def sql(journal_url: str) -> Sql:
    """Run a statement past the driver, and commit."""
    return partial(run_sql, journal_url)


@pytest.fixture
async def turn(session: Session, hands: Hands, sql: Sql) -> Turn:
    """A turn whose model is called, on a thread with a damaged entry of an earlier turn."""
    await hands.finish(await session.submit("1", agent=AGENT))
    turn = await session.submit("2", agent=AGENT)
    await hands.ask_model(turn)
    await sql(DAMAGE, b'{"half":')
    return turn


async def test_a_turn_that_is_quiet_on_a_damaged_thread_says_so_and_what_mends_it(
    run: Run, turn: Turn, sql: Sql
) -> None:
    assert (await turn.why()).code == "operation"
    await sql(A_MINUTE_AGO)
    told = await turn.why()
    assert told.code == "unreadable"
    assert "its thread cannot be read (the body of" in told.text
    assert "seq 2)" in told.text
    for command in ("verify", "rebuild"):
        assert f"`turnwright journal {command} --session s --user ann`" in told.text
    assert "Temporal" not in told.text
    [why] = lines(await run("turn", "why", turn.id, "--json"))
    assert why["code"] == "unreadable"
    assert "No worker can go on with it" in shown(await run("turn", "show", turn.id))


async def test_recovery_says_of_a_turn_on_a_damaged_thread_why_nobody_carries_it_on(
    hands: Hands, turn: Turn, sql: Sql
) -> None:
    await hands.interrupt_model(turn)
    await sql(A_MINUTE_AGO)
    [case] = [found async for found in Recovery(Journal(hands.journal.driver), None, stall_s=0).find()]
    assert isinstance(case, Case)
    assert "its thread cannot be read" in case.why


async def test_a_turn_behind_an_entry_of_a_newer_version_says_so(run: Run, turn: Turn, sql: Sql) -> None:
    await sql(
        "UPDATE entries SET version = 99 WHERE seq = 1 AND thread_id = (SELECT id FROM threads WHERE thread = 'main')"
    )
    await sql(A_MINUTE_AGO)
    [why] = lines(await run("turn", "why", turn.id, "--json"))
    assert why["code"] == "unreadable"
    assert "version 99" in why["text"]
    assert "run a worker of the version that wrote it" in shown(await run("turn", "show", turn.id))
