"""The `spent` table: what each thread takes of its session's budget.

Rule: it is kept only while the session has a budget, and then every command on a thread locks the session's counter
before anything else of the session, so whoever may start an operation knows what all the others took. Only the
counter's holder sees a sum that stays true until its commit.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any, TypeVar

from turnwright.journal.budgets import BudgetChange, Used
from turnwright.journal.commands import ClientCommand, SetBudget, SetSessionBudget
from turnwright.journal.control import SessionControl, ThreadControl
from turnwright.journal.errors import StoreCorrupt
from turnwright.journal.ids import SessionKey, ThreadKey
from turnwright.journal.script import Row, Script, batch, first, rows
from turnwright.journal.spending import committed
from turnwright.journal.transact.rows import ThreadRow, find_session, thread_control

THREADS_FILLED_MAX = 500
C = TypeVar("C", bound=ClientCommand)


def session_used(session_id: int, session: SessionControl) -> Script[Used | None]:
    """What the session's threads used and reserved, locked until the commit; None when it has no budget.

    Also for a command that starts nothing: it settles the thread, and whoever has looked at an open question about a
    budget without knowing this would have looked in vain.
    """
    if session.budget is None:
        return None
    if (yield from first("lock_counter", session_id)) is None:
        raise StoreCorrupt(f"session {session_id} has no counter")
    row = yield from first("sum_spent", session_id)
    return None if row is None else used_of(row)


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


def note_spent(row: ThreadRow, session: SessionControl, control: ThreadControl) -> Script[None]:
    """Keep what the thread takes, if that counts and changed."""
    now = committed(control)
    if session.budget is not None and now != committed(row.control):
        yield from first("upsert_spent", *spent_columns(row.id, row.session_id, now))


def follow_budget(session_id: int, before: SessionControl, after: SessionControl) -> Script[None]:
    """Fill the table when the session gets a budget, empty it when that is lifted; the session is locked."""
    if after.budget is None:
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
            if (used := committed(control)) != Used():
                taken.append(spent_columns(thread_id, session_id, used))
        yield from batch("upsert_spent", tuple(taken))
        if len(found) < THREADS_FILLED_MAX:
            return
        after = found[-1][0]


def spent_columns(thread_id: int, session_id: int, used: Used) -> Row:
    """The parameters of `upsert_spent`."""
    return (thread_id, session_id, used.steps, used.tokens, used.cost_microusd, used.wall_us, used.tool_calls)


def used_of(row: Row) -> Used:
    """A row of `find_spent` or `sum_spent`."""
    steps, tokens, cost_microusd, wall_us, tool_calls = row
    return Used(steps=steps, tokens=tokens, cost_microusd=cost_microusd, wall_us=wall_us, tool_calls=tool_calls)
