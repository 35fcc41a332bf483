"""Recovery by hand goes past what it cannot do anything about, and says what it left."""

from collections.abc import Awaitable, Callable
from functools import partial
from typing import cast

import asyncpg
import pytest
from temporalio.service import RPCError, RPCStatusCode

from tests.integration.worker.conftest import Seeds, Sql
from turnwright.journal.commands import CancelSession, CreateSession, PauseThread, Submit
from turnwright.journal.driver import Driver
from turnwright.journal.ids import SessionKey, ThreadKey, turn_id
from turnwright.journal.messages import user
from turnwright.journal.store import Journal
from turnwright.journal.store_enlisting import enlist
from turnwright.journal.transact.sweeping import Broken, Suspect, find_cancelled, take_wakes
from turnwright.worker import recovery
from turnwright.worker.recovery import Case, Recovery, Revived
from turnwright.worker.rousing import Condition, EngineAway, Step, TemporalRouser
from turnwright.workflows.waking import Waker

Find = Callable[[], Awaitable[tuple[list[str], list[str]]]]


class Refusing(TemporalRouser):
    """As if Temporal refused one thread, and went away with another."""

    def __init__(self) -> None:
        super().__init__(cast("Waker", None))

    async def examine(self, suspect: Suspect) -> dict[str, Condition]:
        return {"turn": "gone"}

    async def revive(self, suspect: Suspect) -> tuple[Step, ...]:
        if suspect.key.thread == "refused":
            raise RPCError("the id is too long", RPCStatusCode.INVALID_ARGUMENT, b"")
        if suspect.key.thread == "last":
            raise EngineAway("nobody answers")
        return ("woken",)


@pytest.fixture
def find(journal: Journal) -> Find:
    """The threads that are to be brought back, and those that cannot be read."""

    async def find() -> tuple[list[str], list[str]]:
        found = [case async for case in Recovery(journal, None, stall_s=0).find()]
        broken = [ThreadKey.parse(case.key).thread for case in found if isinstance(case, Broken)]
        return [case.suspect.key.thread for case in found if isinstance(case, Case)], broken

    return find


async def test_a_damaged_thread_of_an_older_version_is_unreadable_and_hides_no_other(
    seeds: Seeds, find: Find, sql: Sql
) -> None:
    for name in ("damaged", "old", "fine"):
        await seeds.thread(name)
    await sql("UPDATE threads SET reducer_version = 0 WHERE thread IN ('damaged', 'old')")
    await sql(
        "UPDATE payloads SET body = $1 WHERE seq = 1 AND thread_id = (SELECT id FROM threads WHERE thread = 'damaged')",
        b'{"half":',
    )
    assert await find() == (["old", "fine"], ["damaged"])


async def test_a_session_of_a_newer_version_hides_no_other(seeds: Seeds, find: Find, sql: Sql) -> None:
    await seeds.thread("newer", "of the future")
    await seeds.thread("fine")
    await sql("UPDATE sessions SET reducer_version = 99 WHERE session = 'of the future'")
    assert await find() == (["fine"], ["newer"])


async def test_what_temporal_refuses_of_one_thread_is_told_and_when_it_goes_away_it_is_asked_no_more(
    seeds: Seeds, journal: Journal
) -> None:
    for name in ("refused", "fine", "last", "behind"):
        await seeds.thread(name)
    told = Recovery(journal, Refusing(), stall_s=0)
    done = {}
    async for case in told.find():
        assert isinstance(case, Case)
        done[case.suspect.key.thread] = await told.recover(case)
    assert done == {
        "refused": Revived(error="Temporal refuses: the id is too long"),
        "fine": Revived(("woken",)),
        "last": Revived(error="nobody answers"),
        "behind": Revived(error="nobody answers"),
    }
    assert told.away == "nobody answers"


async def test_hints_hide_no_cancelled_thread_however_many_a_session_has(
    seeds: Seeds, journal: Journal, find: Find, driver: Driver, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A sweeper has just had them looked at, of more than are read at once; held, nothing else finds them."""
    monkeypatch.setattr(recovery, "PAGE_THREADS_MAX", 2)
    names = [f"t{n}" for n in range(5)]
    for name in names:
        await journal.execute(await seeds.thread(name), PauseThread(request_id="p"))
    await journal.execute(SessionKey("t", None, "s"), CancelSession(request_id="c"))
    page = await driver.read(partial(find_cancelled, 0, 10, 10))
    await driver.write(partial(take_wakes, page))
    assert await find() == (names, [])


@pytest.mark.parametrize("journal_url", ["postgres"], indirect=True)
async def test_what_cannot_be_taken_in_holds_up_nothing_else(
    seeds: Seeds, journal: Journal, postgres_server: str, sql: Sql
) -> None:
    keys = {name: ThreadKey("t", None, "agent", "s", name) for name in ("a", "b")}
    await journal.execute(SessionKey("t", None, "s"), CreateSession(request_id="create"))
    caller = await asyncpg.connect(postgres_server)
    for name, request in (("a", "fine"), ("a", "broken"), ("b", "fine")):
        submit = Submit(request_id=request, turn_id=turn_id(keys[name], request), input=user("hello"))
        assert (await enlist(journal, keys[name], submit, caller.fetch)).status == "enlisted"
    await caller.close()
    await sql("UPDATE inbox SET body = $1 WHERE request_id = 'broken'", b'{"half":')
    await sql(
        "INSERT INTO inbox (thread_key, key_digest, session_key, turn_id, request_id, body, enlisted_us) "
        "SELECT 'nobody', key_digest, '', '', '', body, 0 FROM inbox WHERE request_id = 'broken'"
    )
    taken = await Recovery(journal, None, stall_s=0).take_in()
    assert taken.threads == 2
    assert set(taken.left) == {"nobody", keys["a"].canonical}
    assert await sql("SELECT count(*) FROM turns") == [(2,)]
