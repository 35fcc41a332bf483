"""What runs and their attempts bring: claims, testimony, and looks at what is next."""

from __future__ import annotations

from turnwright.journal.agent_state import AgentState
from turnwright.journal.commands import RunCommand
from turnwright.journal.errors import JournalError
from turnwright.journal.ids import ThreadKey
from turnwright.journal.script import Script
from turnwright.journal.transact.locking import lock_in_session
from turnwright.journal.transact.thread_script import Outcome, Terms, run_thread


class ThreadGone(JournalError):
    """The thread or its session was deleted; what wanted to write to it has nothing left to do."""


def run_command(key: ThreadKey, command: RunCommand, terms: Terms, base: AgentState | None = None) -> Script[Outcome]:
    """Carry out a run's command on its thread; `base` is a state of it that the caller knows already.

    Raises:
        ThreadGone: there is no such thread, or its session was deleted.
    """
    locked = yield from lock_in_session(key)
    if locked is None or locked.session.deleted:
        raise ThreadGone(f"thread {key.canonical} does not exist or was deleted")
    return (yield from run_thread(locked, command, terms, base))
