"""Sealing a journal that was written without keys, and wrapping its data keys anew.

Rule: what is written while this goes on is sealed already. Each session is said to be whole by the last of its
transactions, so a run that was cut off is begun anew and goes on with those that are not.
"""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from typing import TypeVar

from turnwright.journal.driver import Driver
from turnwright.journal.errors import UNREADABLE, InvalidInput, JournalError, KeyMissing
from turnwright.journal.ids import SessionKey, ThreadKey
from turnwright.journal.script import Row, Script, batch, first, rows
from turnwright.journal.sealing.sealer import DataKey, Sealer
from turnwright.journal.store import Journal
from turnwright.journal.transact import sealing
from turnwright.journal.transact.indexing import index_some

PAGE_MAX = 500
P = TypeVar("P", int, str)


@dataclass(frozen=True, slots=True)
class SealedSession:
    """A session of which nothing is left unsealed now; `kept`: why some of it had to be left as it is."""

    key: SessionKey
    threads: int = 0
    entries: int = 0
    kept: str = ""


async def seal(journal: Journal) -> AsyncIterator[SealedSession]:
    """Seal all that was written before there were keys, session by session.

    Raises:
        InvalidInput: there are no keys.
    """
    driver, after = journal.driver, 0
    _check(driver)
    while page := await driver.read(partial(rows, "unsealed_sessions", after, PAGE_MAX)):
        for session_id, canonical in page:
            key, after = SessionKey(*json.loads(canonical)), session_id
            try:
                sealed = await _seal_session(driver, session_id, key)
            except UNREADABLE as error:
                sealed = SealedSession(key, kept=str(error))
            yield sealed
    await driver.scrub()


async def wrap_anew(driver: Driver) -> int:
    """Wrap all data keys by the newest of the keys; how many were wrapped by another.

    Raises:
        InvalidInput: there are no keys.
        KeyMissing: the one that wraps some is not among them, or is another one; all others are wrapped by then.
    """
    _check(driver)
    after, done, errors = 0, 0, list[JournalError]()
    while page := await driver.read(partial(rows, "data_keys_not_by", after, driver.sealer.newest, PAGE_MAX)):
        wrapped = tuple(_wrapped_anew(driver.sealer, page, errors))
        await driver.write(partial(batch, "rewrap_data_key", wrapped))
        done, after = done + len(wrapped), page[-1][0]
    if errors:
        raise errors[0]
    return done


def _wrapped_anew(sealer: Sealer, page: Iterable[Row], errors: list[JournalError]) -> Iterator[Row]:
    for session_id, key_id, wrapped, wrapped_by in page:
        try:
            key = sealer.rewrap(DataKey(bytes(key_id), bytes(wrapped), wrapped_by))
        except UNREADABLE as error:
            errors.append(error)
        else:
            yield session_id, key.wrapped, key.wrapped_by


async def keys_in_use(driver: Driver) -> Mapping[str, int]:
    """How many data keys each key wraps, by its name; none: no session is sealed."""
    return dict(await driver.read(partial(rows, "data_keys_by_wrapper")))


async def untrue_keys(driver: Driver) -> list[str]:
    """The keys in use of which this process has another one under the same name."""
    wrong: list[str] = []
    for name in (await keys_in_use(driver)).keys() & driver.sealer.names:
        row = await driver.read(partial(first, "data_key_wrapped_by", name))
        try:
            if row is not None:
                driver.sealer.learn(DataKey(bytes(row[0]), bytes(row[1]), row[2]))
        except KeyMissing:
            wrong.append(name)
    return sorted(wrong)


async def is_sealed(driver: Driver) -> bool:
    """Whether a session of the journal is sealed."""
    return await driver.read(partial(first, "any_data_key")) is not None


def _check(driver: Driver) -> None:
    if not driver.sealer.seals:
        raise InvalidInput(
            "there is nothing to seal with; add `keys=FILE` to the journal's URL (docs/guides/sealing-the-journal.md)"
        )


async def _seal_session(driver: Driver, session_id: int, key: SessionKey) -> SealedSession:
    after, threads, entries = 0, 0, 0
    await driver.write(partial(sealing.seal_control, key))
    while page := await driver.read(partial(rows, "thread_page_of_session", after, PAGE_MAX, session_id)):
        for thread_id, canonical in page:
            entries += await _seal_thread(driver, canonical)
            threads += not ThreadKey.parse(canonical).is_session_log
            after = thread_id
    await _pages(driver, "", partial(sealing.seal_blob, key))
    await driver.write(partial(sealing.seal_webhooks, key))
    return SealedSession(key, threads, entries)


async def _seal_thread(driver: Driver, canonical: str) -> int:
    done, after = 0, 0
    while True:
        sealed, following = await driver.write(partial(sealing.seal_entries, canonical, after))
        done += sealed
        if following is None:
            break
        after = following
    await _pages(driver, "", partial(sealing.seal_turns, canonical))
    await _pages(driver, "", partial(sealing.seal_requests, canonical))
    await driver.write(partial(sealing.seal_head, canonical))
    while not await driver.write(partial(index_some, canonical)):
        pass
    return done


async def _pages(driver: Driver, after: P | None, piece: Callable[[P], Script[P | None]]) -> None:
    while after is not None:
        after = await driver.write(partial(piece, after))
