"""The `deadlines` table: when a thread's open questions run out, so that somebody looks then.

Rule: a projection of the control, kept in the transaction of the append that changes it. A turn that waits for
an answer is not work, so nothing else would find it when its time is up. While a question about a budget is open, the
time may also be earlier than any deadline: that of a change of the session's budget, until somebody has looked.
"""

from __future__ import annotations

from turnwright.journal.control import ThreadControl
from turnwright.journal.script import Script, first
from turnwright.journal.transact.rows import ThreadRow


def earliest_us(control: ThreadControl) -> int | None:
    """The first deadline of the open questions, if any has one."""
    questions = () if control.active is None else control.active.interactions
    return min((q.deadline_us for q in questions if q.deadline_us is not None), default=None)


def asks_for_budget(control: ThreadControl) -> bool:
    """Whether a question about a budget is open, so that somebody may have to look before its deadline."""
    return control.active is not None and any(q.kind == "budget" for q in control.active.interactions)


def note_deadline(row: ThreadRow, control: ThreadControl) -> Script[None]:
    """Keep the thread's deadline; costs nothing while it stays the same."""
    due_us = earliest_us(control)
    if due_us == earliest_us(row.control) and not asks_for_budget(row.control):
        return
    yield from write_deadline(row.id, due_us)


def note_look(row: ThreadRow) -> Script[None]:
    """A look that found nothing to record: who waits for a budget is not looked at again before its deadline."""
    if asks_for_budget(row.control):
        yield from write_deadline(row.id, earliest_us(row.control))


def write_deadline(thread_id: int, due_us: int | None) -> Script[None]:
    """The thread's row, or none."""
    if due_us is None:
        yield from first("delete_deadline", thread_id)
    else:
        yield from first("upsert_deadline", thread_id, due_us)
