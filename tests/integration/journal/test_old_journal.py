"""A journal that the first release wrote opens, works and proves with this one.

The file is the dump of a SQLite journal that 0.1.0 made: a turn that ended with one queued behind it, and on another
thread a turn that waits, because what became of a call is unknown.
"""

import sqlite3
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.integration.journal.conftest import AGENT, KEY, SESSION
from turnwright.journal import store_admin
from turnwright.journal.budgets import Budget
from turnwright.journal.commands import ClaimRun, Look, Reconcile, SetSessionBudget
from turnwright.journal.ids import ThreadKey, turn_id
from turnwright.journal.store import Journal
from turnwright.journal.store_verify import rebuild, verify
from turnwright.journal.transact.inbox import InboxFilter, Question

DUMP = Path(__file__).with_name("journal_of_0_1_0.sql")
SIDE = ThreadKey("t", None, "agent", "s", "side")


@pytest.fixture
async def old(tmp_path: Path) -> AsyncIterator[Journal]:
    connection = sqlite3.connect(tmp_path / "journal.db")
    connection.executescript(DUMP.read_text("utf-8"))
    connection.close()
    journal = await Journal.open(f"sqlite:///{tmp_path}/journal.db", migrate=True)
    yield journal
    await journal.close()


async def findings(journal: Journal) -> list[object]:
    return [finding async for proof in verify(journal) for finding in proof.findings]


async def inbox(journal: Journal) -> list[Question]:
    page = await store_admin.read_inbox(journal, InboxFilter("t"))
    assert page is not None
    return list(page.items)


async def test_it_is_proven_before_anything_is_rebuilt(old: Journal) -> None:
    assert await findings(old) == []
    assert (await old.state(KEY)).context[-1].text == "done"


async def test_its_open_question_appears_once_its_thread_is_used_and_can_be_answered(old: Journal) -> None:
    assert await inbox(old) == []
    await old.dispatch(SIDE)
    [item] = await inbox(old)
    assert (item.row.kind, item.row.tool, item.turn_id) == ("unknown_outcome", "pay", turn_id(SIDE, "three"))
    settle = Reconcile(
        request_id="r", turn_id=item.turn_id, call_id=str(item.row.call_id), outcome="succeeded", reason="seen"
    )
    assert (await old.execute(SIDE, settle)).status == "accepted"
    assert await inbox(old) == []
    assert await findings(old) == []


async def test_its_queue_goes_on_and_what_it_used_counts(old: Journal) -> None:
    claim = ClaimRun(turn_id=turn_id(KEY, "two"), run="new", start_epoch=1, definition=AGENT)
    assert (await old.run(KEY, claim)).rejection is None
    budget = SetSessionBudget(request_id="budget", budget=Budget(tokens=10))
    assert (await old.execute(SESSION, budget)).status == "accepted"
    claimed = await old.run(KEY, Look(turn_id=claim.turn_id, epoch=2))
    assert [entry.type for entry in claimed.entries] == ["interaction.requested", "turn.waiting"]
    session = await old.session(SESSION)
    assert session is not None
    assert session.control.title == "old"
    assert await findings(old) == []


async def test_a_rebuild_renews_all_of_it(old: Journal) -> None:
    assert not [rebuilt.kept async for rebuilt in rebuild(old) if rebuilt.kept]
    assert len(await inbox(old)) == 1
    assert await findings(old) == []
