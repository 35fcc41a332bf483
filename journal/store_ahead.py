"""Commands that look before they lock, and look again if it was otherwise under the lock.

Those that begin with the state of a long history do before their transaction all that takes long.

Rule: the state is read while others write, and media are copied one in a transaction. What was copied for nothing goes
again; a command that is broken off leaves it to be used by its repetition, and an erasure meets it there.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from functools import partial
from typing import TypeVar

from turnwright.journal.commands import EraseEntry, MakeWhole
from turnwright.journal.driver import Driver
from turnwright.journal.errors import StoreUnavailable
from turnwright.journal.ids import SessionKey, ThreadKey
from turnwright.journal.transact.ahead import (
    Ahead,
    Beginning,
    Outdated,
    copy_blob,
    drop_blob,
    missing_media,
    read_ahead,
)
from turnwright.journal.transact.commands import Undo
from turnwright.journal.transact.lineage import ForkedMeanwhile
from turnwright.journal.transact.made_of import MuchMadeOf, erase_some_made_of

READS_MAX = 5
TRIES_MAX = 20
T = TypeVar("T")


async def carry_out_ahead(
    driver: Driver, key: ThreadKey, command: Beginning, carry_out: Callable[[Ahead | None], Awaitable[T]]
) -> T:
    """Have a command carried out with what was read ahead; read it again if content of it is erased meanwhile.

    Raises:
        Undo: the command is rejected.
        StoreCorrupt: what it is to begin with cannot be read.
        StoreUnavailable: content of it is erased again and again; try again.
    """
    for _ in range(READS_MAX):
        ahead = await driver.read(partial(read_ahead, key, command))
        copied: list[str] = []
        try:
            if isinstance(command, MakeWhole) and ahead is not None:
                await _copy_media(driver, key, ahead, copied)
            return await carry_out(ahead)
        except Outdated:
            await _drop(driver, key, copied)
        except Undo:
            with suppress(StoreUnavailable):  # it is rejected, whether or not the store answers once more
                await _drop(driver, key, copied)
            raise
    raise StoreUnavailable(f"what thread {key.canonical} is to begin with changes all the time; try again")


async def carry_out_erasure(
    driver: Driver, key: ThreadKey, command: EraseEntry, carry_out: Callable[[Mapping[SessionKey, int]], Awaitable[T]]
) -> T:
    """Have an erasure carried out; again, if its thread is forked meanwhile, or much was made of what it erases.

    Raises:
        Undo: the command is rejected.
        StoreUnavailable: the thread is forked again and again; nothing was erased.
    """
    looked: dict[SessionKey, int] = {}
    forked = 0
    while forked < TRIES_MAX:
        try:
            return await carry_out(looked)
        except ForkedMeanwhile:
            forked += 1
        except MuchMadeOf as much:
            await _erase_made_of(driver, much, command, looked)
    raise StoreUnavailable(f"thread {key.canonical} is forked all the time, and nothing was erased; try again")


async def _erase_made_of(driver: Driver, much: MuchMadeOf, command: EraseEntry, looked: dict[SessionKey, int]) -> None:
    """Have a session lose what was made of it, some in a transaction; what is made meanwhile is left to the last."""
    at: int | None = looked.get(much.session, 0)
    while at is not None:
        looked[much.session] = at
        at = await driver.write(partial(erase_some_made_of, much, command, at))


async def _copy_media(driver: Driver, key: ThreadKey, ahead: Ahead, copied: list[str]) -> None:
    for sha256 in await driver.read(partial(missing_media, key, ahead)):
        copied.append(sha256)
        await driver.write(partial(copy_blob, key, ahead, sha256))


async def _drop(driver: Driver, key: ThreadKey, copied: list[str]) -> None:
    for sha256 in copied:
        await driver.write(partial(drop_blob, key, sha256))
