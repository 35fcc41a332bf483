"""The `deadlines` table: when a thread's open questions run out, so that somebody looks then.

Rule: a projection of the control, kept in the transaction of the append that changes it. A turn that waits for
an answer is not work, so nothing else would find it when its time is up.
"""

from __future__ import annotations

from turnwright.journal.control import ThreadControl
from turnwright.journal.script import Script, first
from turnwright.journal.transact.rows import ThreadRow


def earliest_us(control: ThreadControl) -> int | None:
    """The first deadline of the open questions, if any has one."""
    questions = () if control.active is None else control.active.interactions
    return min((q.deadline_us for q in questions if q.deadline_us is not None), default=None)


def note_deadline(row: ThreadRow, control: ThreadControl) -> Script[None]:
    """Keep the thread's deadline; costs nothing while it stays the same."""
    due_us = earliest_us(control)
    if due_us == earliest_us(row.control):
        return
    if due_us is None:
        yield from first("delete_deadline", row.id)
    else:
        yield from first("upsert_deadline", row.id, due_us)
