"""Keys come to a journal that has none, and go: what is there is sealed, and keys follow each other."""

import asyncio
from pathlib import Path

import pytest

from tests.integration.journal.conftest import KEY, SESSION, Played, Stored, key_line, opened
from tests.integration.journal.moving import facts, lived_in, proven
from tests.integration.journal.sealed import in_clear
from turnwright.journal import store_sealing
from turnwright.journal.drivers import open_driver
from turnwright.journal.entries import TurnQueued
from turnwright.journal.errors import InvalidInput, KeyMissing
from turnwright.journal.ids import ThreadKey


class Cut(Exception):
    """Stands for a crash."""


async def test_another_key_of_the_same_name_opens_nothing(sealed: Played, sealed_url: str, keys: Path) -> None:
    await lived_in(sealed)
    keys.write_text(key_line("first", 2))
    async with opened(sealed_url) as other:
        with pytest.raises(KeyMissing, match="not as the key 'first' wrapped it"):
            await other.journal.state(KEY)


async def test_a_new_key_wraps_all_data_keys_and_the_old_one_may_go(
    sealed: Played, sealed_url: str, keys: Path
) -> None:
    await lived_in(sealed)
    keys.write_text(f"{key_line('second', 2)}\n{key_line('first', 1)}\n")
    async with opened(sealed_url) as rotated:
        assert await store_sealing.keys_in_use(rotated.journal.driver) == {"first": 1}
        assert await store_sealing.wrap_anew(rotated.journal.driver) == 1
        assert await store_sealing.wrap_anew(rotated.journal.driver) == 0
        assert await store_sealing.keys_in_use(rotated.journal.driver) == {"second": 1}
    keys.write_text(key_line("second", 2))
    async with opened(sealed_url) as later:
        assert await proven(later.journal) == []


async def test_a_key_that_was_added_meanwhile_is_found_without_a_restart(
    sealed: Played, sealed_url: str, keys: Path
) -> None:
    keys.write_text(f"{key_line('second', 2)}\n{key_line('first', 1)}\n")
    async with opened(sealed_url) as rotated:
        await lived_in(rotated)
    assert await proven(sealed.journal) == []


async def test_what_was_written_before_there_were_keys_is_sealed_in_one_go(
    played: Played, sealed: Played, stored: Stored
) -> None:
    await lived_in(played)
    await played.journal.checkpoint(KEY, await played.journal.state(KEY))
    before = await facts(played.journal, SESSION)
    assert await facts(sealed.journal, SESSION) == before
    [done] = [one async for one in store_sealing.seal(sealed.journal)]
    assert (done.key, done.threads) == (SESSION, 3)
    assert await in_clear(stored) == []
    assert await proven(sealed.journal) == []
    assert await facts(sealed.journal, SESSION) == before
    assert [one async for one in store_sealing.seal(sealed.journal)] == []


async def test_sealing_that_was_cut_off_anywhere_goes_on(played: Played, sealed: Played, stored: Stored) -> None:
    await lived_in(played)
    before = await facts(played.journal, SESSION)
    driver, points = sealed.journal.driver, list[str]()

    async def once() -> None:
        async for _ in store_sealing.seal(sealed.journal):
            pass

    cuts = 0
    for cut in range(1, 200):
        points.clear()

        def hook(point: str, cut: int = cut) -> None:
            points.append(point)
            if points.count("commit") == cut:
                raise Cut

        driver.hook = hook
        try:
            await once()
            break
        except Cut:
            driver.hook, cuts = None, cuts + 1
            assert await facts(sealed.journal, SESSION) == before
    driver.hook = None
    assert cuts > 20
    assert await in_clear(stored) == []
    assert await proven(sealed.journal) == []


async def test_sessions_of_before_are_sealed_as_they_go_on_while_all_of_it_is_read(
    played: Played, sealed: Played, stored: Stored
) -> None:
    await played.submit("what was said before there were keys")
    turn = await sealed.submit("what was said after there were some")
    assert await stored("there were keys")
    assert not await stored("there were some")
    said = [
        entry.payload.input.text for entry in await sealed.journal.entries(KEY) if isinstance(entry.payload, TurnQueued)
    ]
    assert said == ["what was said before there were keys", "what was said after there were some"]
    assert (await sealed.journal.turn(KEY, turn)) is not None
    assert await proven(sealed.journal) == []


async def test_two_processes_that_first_write_to_a_session_agree_on_its_data_key(
    played: Played, sealed: Played, sealed_url: str
) -> None:
    keys = [ThreadKey("t", None, "agent", "s", f"thread-{n}") for n in range(8)]
    await played.submit("before there were keys")
    async with opened(sealed_url) as other:
        writers = (sealed, other)
        await asyncio.gather(*(writers[n % 2].submit(f"message {n}", key) for n, key in enumerate(keys)))
        assert await proven(other.journal) == []
    assert await store_sealing.keys_in_use(sealed.journal.driver) == {"first": 1}


async def test_a_session_that_was_not_made_after_all_leaves_no_data_key_behind(sealed: Played) -> None:
    driver = sealed.journal.driver

    def hook(point: str) -> None:
        if point == "commit":
            raise Cut

    driver.hook = hook
    with pytest.raises(Cut):
        await sealed.submit("first try")
    driver.hook = None
    assert not await store_sealing.is_sealed(driver)
    await sealed.submit("second try")
    assert await proven(sealed.journal) == []


async def test_there_is_nothing_to_seal_with_where_the_url_names_no_keys(played: Played) -> None:
    with pytest.raises(InvalidInput, match="add `keys=FILE`"):
        await store_sealing.wrap_anew(played.journal.driver)


@pytest.mark.parametrize(
    ("keys", "why"),
    [
        ("/no/such/file", "cannot be read"),
        ("env:NO_SUCH_VARIABLE", "which is not set"),
        ("python:no.such:module", "give `module:name`"),
        ("python:os:path", "it has no method `keys`"),
    ],
)
def test_keys_that_cannot_be_had_are_refused_at_once(keys: str, why: str) -> None:
    with pytest.raises(InvalidInput, match=why):
        open_driver(f"sqlite:///journal.db?keys={keys}")
