"""A reader that follows a session sees what is committed, whatever else the server is in the middle of."""

import asyncio
from urllib.parse import parse_qs, urlsplit

import asyncpg
import pytest

from tests.integration.journal.conftest import KEY, SESSION, Played
from turnwright.journal.ids import ThreadKey
from turnwright.journal.store import Journal

OTHER = ThreadKey("t", None, "agent", "other")


@pytest.mark.parametrize("journal_url", ["postgres"], indirect=True)  # a file has one writer
async def test_an_open_transaction_of_somebody_else_hides_nothing_from_a_reader(
    journal: Journal, played: Played, journal_url: str
) -> None:
    """Readers that take the oldest open transaction for their horizon stand still until it ends."""
    await played.submit("before")
    schema = parse_qs(urlsplit(journal_url).query)["schema"][0]
    neighbour = await asyncpg.connect(journal_url.replace(f"&schema={schema}", ""))
    try:
        async with neighbour.transaction():
            await neighbour.execute("CREATE TABLE of_a_neighbour AS SELECT 1 AS one")
            await played.submit("meanwhile")
            assert [located.entry.position for located in await journal.timeline(SESSION)] == [1, 2, 3]
            await neighbour.execute("DROP TABLE of_a_neighbour")
    finally:
        await neighbour.close()


async def test_a_writer_stopped_before_its_commit_is_waited_for_and_not_passed_over(
    journal: Journal, played: Played, journal_url: str
) -> None:
    await played.submit("before", OTHER)
    await played.submit("before")
    reached, gate = asyncio.Event(), asyncio.Event()

    async def hook(point: str) -> None:
        if point == "commit":
            reached.set()
            await gate.wait()

    slow = await Journal.open(journal_url)
    slow.driver.hook = hook
    first = asyncio.create_task(Played(slow).submit("slow", ThreadKey("t", None, "agent", "s", "slow")))
    async with asyncio.timeout(30):
        await reached.wait()
    second = asyncio.create_task(played.submit("quick", ThreadKey("t", None, "agent", "s", "quick")))
    seen = [located.entry.position for located in await journal.timeline(SESSION)]
    gate.set()
    await asyncio.gather(first, second)
    await slow.close()
    later = [located.entry.position for located in await journal.timeline(SESSION, seen[-1])]
    whole = [located.entry.position for located in await journal.timeline(SESSION)]
    assert whole == seen + later == list(range(1, len(whole) + 1))
    assert len({located.entry.entry_id for located in await journal.timeline(SESSION)}) == len(whole)
    assert [item.entry.type for item in await journal.timeline(KEY.session_key)].count("turn.queued") == 3
