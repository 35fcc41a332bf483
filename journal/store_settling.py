"""An imported thread brought to where it can be shown: read in pages, written in pieces, proven.

Rule: no transaction grows with the thread, so that others write meanwhile. Whoever is cut off begins the thread anew.
"""

from __future__ import annotations

from functools import partial

from turnwright.journal.driver import Driver
from turnwright.journal.store_walking import walk_ahead
from turnwright.journal.transact import settling
from turnwright.journal.transact.importing import Begun, Declared


async def settle(driver: Driver, begun: Begun, digest: str, thread: Declared, thread_id: int) -> str | None:
    """Write all that follows from a thread's entries, and prove it; what is wrong with it, None: nothing.

    Raises:
        CommandRejected: another thread of the journal has a turn of it; or `import_lost`.
    """
    # With the state at the last one, of which a checkpoint may be kept.
    _, walk, _ = await walk_ahead(driver, thread.key, thread_id, frozenset({thread.entries}))
    wrong = settling.judge(walk, thread)
    if wrong is not None:
        return wrong
    of = settling.settling(begun, digest, thread, walk, thread_id)
    while begun.place != "new" and not await driver.write(partial(settling.clear_some, of)):
        pass
    for write in settling.transactions(of):
        await driver.write(write)
    while not await driver.read(partial(settling.is_indexed, of)):
        await driver.write(partial(settling.index_some, of))
    return await driver.read(partial(settling.prove, of))
