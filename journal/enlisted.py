"""Taking in what was enlisted for a thread, in order, one transaction for each.

Rule: anybody may do it at any time, and several at once; each row is taken by one of them.
"""

from __future__ import annotations

from functools import partial

import structlog

from turnwright.journal.driver import Driver
from turnwright.journal.errors import StoreUnavailable, TurnwrightError
from turnwright.journal.ids import ThreadKey
from turnwright.journal.transact.commands import Undo
from turnwright.journal.transact.enlisting import Taken, take_first
from turnwright.journal.transact.thread_script import Terms

TAKEN_MAX = 1_000

log = structlog.get_logger(__name__)


async def take_in(driver: Driver, key: ThreadKey, terms: Terms, limit: int = TAKEN_MAX) -> int:
    """Take in what waits for the thread, up to so many; returns how many there were.

    What goes wrong after some were taken is raised to who takes in next: these count, and their thread is to be woken.

    Raises:
        StoreUnavailable: try again.
        JournalError: this process cannot read the thread or what was enlisted for it.
    """
    for count in range(limit):
        try:
            taken = await driver.write(partial(take_first, key, terms))
        except Undo:
            return count
        except StoreUnavailable:
            raise
        except TurnwrightError:
            if count:
                return count
            raise
        if taken is None:
            return count
        _say(key, taken)
    return limit


async def take_in_first(driver: Driver, key: ThreadKey, terms: Terms) -> None:
    """Take in what waits for the thread before a command to it, which is not held up by what cannot be read.

    Raises:
        StoreUnavailable: try again.
    """
    try:
        await take_in(driver, key, terms)
    except StoreUnavailable:
        raise
    except TurnwrightError:
        return  # the workers say it, once and not with each command


def _say(key: ThreadKey, taken: Taken) -> None:
    """Nobody is told of a request whose id was used for another one in a transaction that was open at the same time."""
    if taken.receipt is not None and taken.receipt.status == "rejected":
        request, why = taken.receipt.request_id, taken.receipt.reason
        log.warning("enlisted_not_taken", thread=key.canonical, request=request, why=why)
