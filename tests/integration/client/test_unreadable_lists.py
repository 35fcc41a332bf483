"""What cannot be read stands in a list as such, and hides nothing of what can."""

from functools import partial

import pytest

from tests.integration.client.hands import AGENT, Hands
from tests.integration.client.terminal import Run, lines, shown
from tests.integration.worker.conftest import Sql, run_sql
from turnwright.client import Client, Session, Turn
from turnwright.journal.errors import StoreCorrupt

REBUILD = "`turnwright journal rebuild --session s --user ann`"
MORE = ("-u", "ann", "--json")


@pytest.fixture
def sql(journal_url: str) -> Sql:
    """Run a statement past the driver, and commit."""
    return partial(run_sql, journal_url)


@pytest.fixture
async def turns(session: Session) -> tuple[Turn, Turn]:
    """Two turns, the later one on a thread whose control is damaged below."""
    return await session.submit("1", agent=AGENT), await session.submit("2", agent=AGENT, thread="broken")


@pytest.mark.parametrize(
    "damage",
    ["UPDATE threads SET control = $1 WHERE thread = 'broken'", "UPDATE turns SET body = $1 WHERE turn_id = $2"],
)
async def test_a_turn_that_cannot_be_read_hides_no_other_and_no_command_about_many_stumbles_over_it(
    run: Run, client: Client, turns: tuple[Turn, Turn], sql: Sql, damage: str
) -> None:
    fine, broken = turns
    await sql(damage, b'{"seq": "many"}', *([broken.id] if "$2" in damage else []))
    listed = (await client.turns()).items
    assert [(seen.status.turn_id, bool(seen.unreadable)) for seen in listed] == [(broken.id, True), (fine.id, False)]
    assert REBUILD in listed[0].unreadable
    told = await run("turns", "list")
    assert "unreadable" in told.output
    assert REBUILD in " ".join(told.stderr.split())
    [page] = lines(await run("turns", "list", "--json"))
    assert [bool(turn["unreadable"]) for turn in page["turns"]] == [True, False]
    accepted = lines(await run("turns", "cancel", "--all", "--yes", "--json"))
    assert [receipt["id"] for receipt in accepted] == [fine.id]


async def test_a_thread_that_cannot_be_read_hides_no_other_of_its_session(
    run: Run, session: Session, turns: tuple[Turn, Turn], sql: Sql
) -> None:
    await sql("UPDATE threads SET control = $1 WHERE thread = 'broken'", b"{")
    seen = (await session.threads()).items
    assert [(one.key.thread, bool(one.unreadable)) for one in seen] == [("main", False), ("broken", True)]
    assert "unreadable" in shown(await run("session", "show", "s", "-u", "ann"))
    [told] = lines(await run("session", "show", "s", *MORE))
    assert [bool(thread["unreadable"]) for thread in told["thread_list"]] == [False, True]
    with pytest.raises(StoreCorrupt, match=REBUILD):
        await session.thread(AGENT, "broken").status()


async def test_a_session_that_cannot_be_read_hides_no_other(
    run: Run, client: Client, session: Session, hands: Hands, sql: Sql
) -> None:
    await hands.finish(await session.submit("1", agent=AGENT))
    await client.session("ann", "fine").create()
    await sql("UPDATE sessions SET control = $1 WHERE id = (SELECT min(id) FROM sessions)", b"[]")
    seen = (await client.sessions()).items
    assert [(one.key.session, one.threads, bool(one.unreadable)) for one in seen] == [
        ("fine", 0, False),
        ("s", 1, True),
    ]
    [told] = lines(await run("session", "list", "--json"))
    assert [bool(one["unreadable"]) for one in told["sessions"]] == [False, True]
    assert "unreadable" in shown(await run("session", "list"))
    assert [bool(turn.unreadable) for turn in (await client.turns(session)).items] == [True]
