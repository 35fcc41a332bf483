"""Which threads were forked from a thread, directly or not, and what an erased entry means to them.

Rule: a fork shows what its origin holds, so what is erased there is gone here too: its log says so, under the number
the entry has here (below zero), and whatever was kept of its state goes. A worker that has such a state in memory finds
the entry as it would in the thread itself.
"""

from __future__ import annotations

from collections.abc import Iterable

from turnwright.journal.advance import fold_drafts
from turnwright.journal.commands import EraseEntry
from turnwright.journal.entries import Draft, EntryErased
from turnwright.journal.ids import ThreadKey
from turnwright.journal.script import Script, first, rows
from turnwright.journal.transact.appending import append_drafts
from turnwright.journal.transact.bases import FIRST_SEQ
from turnwright.journal.transact.content import erase_content, find_content, forget_states
from turnwright.journal.transact.locking import lock_thread
from turnwright.journal.transact.rows import ThreadRow, clock, find_place


class ForkedMeanwhile(Exception):
    """Leaves the transaction of an erasure: a fork was made that it has not locked; begin anew."""


def _let_go(row: ThreadRow) -> Script[int | None]:
    """Erase what a fork that was made whole keeps of its origin, which is there still; the entry it stood in."""
    base = yield from first("find_base", row.id, FIRST_SEQ)
    held: int | None = None if base is None else base[6]
    content = None if held is None else (yield from find_content(row, held))
    if held is None or content is None or content.stored is None:
        return None
    yield from erase_content(row, held, content, content.stored)
    yield from first("move_whole", row.id, None)
    return held


def forks_holding(thread_id: int, seq: int) -> Script[dict[ThreadKey, int]]:
    """The forks whose state may hold what the thread's entry `seq` brought, with the number the entry has there."""
    found: dict[ThreadKey, int] = {}
    left = [(thread_id, seq)]
    while left:
        origin_id, number = left.pop()
        for canonical, fork_id, at_seq in (yield from rows("forks_of_thread", origin_id, number)):
            here = number - at_seq - 1
            found[ThreadKey.parse(canonical)] = here
            left.append((fork_id, here))
    return found


def lock_with_forks(key: ThreadKey, seq: int) -> Script[tuple[ThreadRow | None, list[tuple[ThreadRow, int]]]]:
    """The thread and the forks that may hold what its entry brought, all locked, in the one order of threads.

    Raises:
        ForkedMeanwhile: another fork was made since they were looked for.
    """
    place = yield from find_place(key)
    if place is None:
        return None, []
    forks = yield from forks_holding(place.id, seq)
    locked: dict[ThreadKey, ThreadRow | None] = {}
    for one in sorted({key, *forks}, key=lambda known: known.canonical):
        locked[one] = yield from lock_thread(one)
    # Also where none was there before: one that is made now waits for a lock of ours, or had one that we waited for.
    if (yield from forks_holding(place.id, seq)).keys() - locked.keys():
        raise ForkedMeanwhile
    return locked[key], [(row, forks[one]) for one, row in locked.items() if one in forks and row is not None]


def tell_forks(forks: Iterable[tuple[ThreadRow, int]], command: EraseEntry) -> Script[None]:
    """Say in the log of each fork what was erased, and delete what was kept of its state."""
    now_us = yield from clock()
    for row, number in forks:
        held = yield from _let_go(row)
        erased = [number] if held is None else [number, held]
        drafts = [
            Draft(
                f"origin:{number}/erased/{n}",
                EntryErased(erased_seq=seq, principal=command.principal, reason=command.reason),
            )
            for n, seq in enumerate(erased)
        ]
        control = fold_drafts(row.control, drafts, now_us)
        yield from append_drafts(row, drafts, control, now_us, runnable=row.runnable)
        yield from forget_states(row)
