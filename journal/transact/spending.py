"""The `spent` table: what each thread takes of its session's budget.

Rule: it is kept only while the session has a budget, and then every command on a thread locks the session's counter
before anything else of the session, so whoever may start an operation knows what all the others took. Only the
counter's holder sees a sum that stays true until its commit. A thread that waits for what others only reserved is
marked there, so that the commit which gives something back has it looked at.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, TypeVar

from turnwright.journal.actions import Action, Delay, Stop
from turnwright.journal.budgets import BudgetChange, Used
from turnwright.journal.commands import ClientCommand, SetBudget, SetSessionBudget
from turnwright.journal.control import SessionControl, ThreadControl
from turnwright.journal.errors import StoreCorrupt
from turnwright.journal.ids import SessionKey, ThreadKey
from turnwright.journal.script import Row, Script, batch, first, rows
from turnwright.journal.spending import committed, reserved
from turnwright.journal.transact.deadlines import earliest_us, write_deadline
from turnwright.journal.transact.rows import ThreadRow, find_session, thread_control

THREADS_FILLED_MAX = 500
C = TypeVar("C", bound=ClientCommand)


@dataclass(frozen=True, slots=True)
class Others:
    """What a session's other threads used and reserved; `waits_us`: until when the thread waits for that (0: no)."""

    used: Used
    reserved: Used
    waits_us: int = 0


def lock_others(row: ThreadRow, session: SessionControl) -> Script[Others | None]:
    """What the session's other threads take, locked until the commit; None when it has no budget.

    Also for a command that starts nothing: it settles the thread, and whoever has looked at an open question about a
    budget without knowing this would have looked in vain.
    """
    if session.budget is None:
        return None
    if (yield from first("lock_counter", row.session_id)) is None:
        raise StoreCorrupt(f"session {row.session_id} has no counter")
    return (yield from read_others(row, session))


def read_others(row: ThreadRow, session: SessionControl) -> Script[Others | None]:
    """What the session's other threads take, for people; None when it has no budget."""
    if session.budget is None:
        return None
    found = yield from first("others_spent", row.session_id, row.id)
    assert found is not None, "sums are always there"
    taken, held, waits_us = used_of(found[:5]), Used(tokens=found[5], cost_microusd=found[6]), found[7]
    return Others(taken - held, held, waits_us)


def read_used(key: SessionKey) -> Script[Used | None]:
    """What the session's threads used and reserved, for people; None when it has no budget, or is not there."""
    session = yield from find_session(key)
    if session is None or session.deleted or session.control.budget is None:
        return None
    row = yield from first("sum_spent", session.id)
    return None if row is None else used_of(row)


def with_all_bounds(command: C, control: ThreadControl | SessionControl) -> C:
    """The command to set a budget with the bounds that stay, if it names only those it changes."""
    change = command.budget if isinstance(command, SetBudget | SetSessionBudget) else None
    if not isinstance(change, BudgetChange):
        return command
    before = control.budget
    if isinstance(control, ThreadControl) and isinstance(command, SetBudget) and command.scope == "turns":
        before = control.turn_budget
    whole: dict[str, Any] = {"budget": change.on(before)}
    return replace(command, **whole)


def note_spent(
    row: ThreadRow, others: Others | None, control: ThreadControl, action: Action, now_us: int
) -> Script[None]:
    """Keep what the thread takes, if that counts and changed; who waits for what it gives back is looked at."""
    if others is None:
        return
    waits_us = _waits_us(control, action, others.waits_us)
    if (committed(control), waits_us) != (committed(row.control), others.waits_us):
        yield from first("upsert_spent", *spent_columns(row.id, row.session_id, control, waits_us))
    if waits_us != others.waits_us:
        # It has been looked at, and what it waits for from now on brings the next look at once.
        yield from write_deadline(row.id, earliest_us(control))
        yield from first("delete_hint", row.id)
    given_back = reserved(row.control) - reserved(control)
    if max(given_back.tokens, given_back.cost_microusd) > 0:
        yield from first("wake_reserved_waits", row.session_id, now_us)


def _waits_us(control: ThreadControl, action: Action, before_us: int) -> int:
    """Until when the thread waits for what others reserved; who has no say in its turn does not know it better."""
    if isinstance(action, Delay) and action.why == "reserved":
        return action.until_us
    return before_us if isinstance(action, Stop) and control.active is not None else 0


def follow_budget(session_id: int, before: SessionControl, after: SessionControl) -> Script[None]:
    """Fill the table when the session gets a budget, empty it when that is lifted; the session is locked."""
    if after.budget is None:
        yield from first("delete_waits_of_session", session_id)
        yield from first("delete_spent_of_session", session_id)
    elif before.budget is None:
        yield from _fill(session_id)


def _fill(session_id: int) -> Script[None]:
    after = 0
    while True:
        found = yield from rows("threads_of_session", session_id, after, THREADS_FILLED_MAX)
        taken: list[Row] = []
        for thread_id, canonical, body, version, _, _ in found:
            control = yield from thread_control(ThreadKey.parse(canonical), thread_id, body, version)
            if committed(control) != Used():
                taken.append(spent_columns(thread_id, session_id, control))
        yield from batch("upsert_spent", tuple(taken))
        if len(found) < THREADS_FILLED_MAX:
            return
        after = found[-1][0]


def spent_columns(thread_id: int, session_id: int, control: ThreadControl, waits_us: int = 0) -> Row:
    """The parameters of `upsert_spent`."""
    used, held = committed(control), reserved(control)
    amounts = (used.steps, used.tokens, used.cost_microusd, used.wall_us, used.tool_calls)
    return (thread_id, session_id, *amounts, held.tokens, held.cost_microusd, waits_us)


def used_of(row: Row) -> Used:
    """The amounts of `sum_spent`, which others begin with."""
    steps, tokens, cost_microusd, wall_us, tool_calls = row
    return Used(steps=steps, tokens=tokens, cost_microusd=cost_microusd, wall_us=wall_us, tool_calls=tool_calls)
