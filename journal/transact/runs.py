"""What runs and their attempts bring: claims, testimony, and looks at what is next."""

from __future__ import annotations

from turnwright.journal.commands import RunCommand
from turnwright.journal.errors import JournalError
from turnwright.journal.ids import ThreadKey
from turnwright.journal.script import Script
from turnwright.journal.transact.rows import lock_thread, share_session
from turnwright.journal.transact.thread_script import Outcome, Terms, run_thread


class ThreadGone(JournalError):
    """The thread or its session was deleted; what wanted to write to it has nothing left to do."""


def run_command(key: ThreadKey, command: RunCommand, terms: Terms) -> Script[Outcome]:
    """Carry out a run's command on its thread.

    Raises:
        ThreadGone: there is no such thread, or its session was deleted.
    """
    row = yield from lock_thread(key)
    session = None if row is None else (yield from share_session(key.session_key))
    if row is None or session is None or session.deleted:
        raise ThreadGone(f"thread {key.canonical} does not exist or was deleted")
    return (yield from run_thread(row, session.control, command, terms))
