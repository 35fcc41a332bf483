"""A rebuild reads a long thread before it locks it, and believes what it read only as far as that is so still."""

from functools import partial

from tests.integration.journal.conftest import KEY, Played, Stored
from tests.integration.journal.forking import fork, head, rewind, said
from turnwright.journal.commands import EraseEntry
from turnwright.journal.ids import ThreadKey
from turnwright.journal.store_verify import rebuild, verify
from turnwright.journal.store_walking import walk_ahead
from turnwright.journal.transact.rebuilding import Rebuilt, rebuild_thread
from turnwright.journal.transact.walking import Ahead

SECRET = "loud in the evenings: xylophones"


async def walked(played: Played, key: ThreadKey = KEY) -> Ahead:
    row = await played.journal.thread(key)
    assert row is not None
    return await walk_ahead(played.journal.driver, key, row.id)


async def rebuilt(played: Played, ahead: Ahead, key: ThreadKey = KEY) -> Rebuilt:
    done = await played.journal.driver.write(partial(rebuild_thread, key.canonical, ahead))
    assert done is not None
    return done


async def findings(played: Played) -> list[str]:
    return [f"{f.where}: {f.problem}" async for proof in verify(played.journal) for f in proof.findings]


async def test_no_entry_is_read_and_no_word_indexed_where_others_wait_for_it(played: Played) -> None:
    for n in range(3):
        await said(played, f"number {n}")
    await rewind(played, 2)
    await fork(played, 1)
    points: list[str] = []
    played.journal.driver.hook = points.append
    assert {done.kept async for done in rebuild(played.journal)} == {""}
    played.journal.driver.hook = None
    transactions = [one.split() for one in " ".join(points).split("begin")]
    heads = [one[: one.index("commit")] for one in transactions if "replace_head" in one]
    assert len(heads) == 3, "the threads and the session's log"
    assert not [one for one in heads if {"raw_entries", "insert_text"} & set(one)]
    assert await findings(played) == []


async def test_what_came_since_it_was_read_is_in_it(played: Played) -> None:
    await said(played, "one")
    ahead = await walked(played)
    await said(played, "two")
    done = await rebuilt(played, ahead)
    assert (done.entries, done.turns) == (await head(played.journal), 2)
    await rewind(played, 2)
    assert (await rebuilt(played, ahead)).entries == await head(played.journal)
    assert {one.kept async for one in rebuild(played.journal)} == {""}
    assert await findings(played) == []


async def test_what_was_erased_since_it_was_read_comes_back_by_no_rebuild(played: Played, stored: Stored) -> None:
    await said(played, SECRET)
    forked = await fork(played, 2)
    await said(played, "more", forked)
    ahead, of_fork = await walked(played), await walked(played, forked)
    assert await stored(SECRET)
    await played.execute(KEY, EraseEntry(request_id="erase", seq=1))
    assert (await rebuilt(played, ahead)).kept == "the content of 1 entries was erased"
    await rebuilt(played, of_fork, forked)
    assert await stored(SECRET) == set()
    assert await findings(played) == []
