"""A run's command goes into the journal, and a turn that fails by it is said in this worker's log.

Rule: whichever worker commits the end of a turn says it, and no other does. The journal has the rest.
"""

from __future__ import annotations

import structlog

from turnwright.activities.runtime.parts import Parts
from turnwright.journal.commands import RunCommand
from turnwright.journal.entries import TurnCompleted, TurnFailed
from turnwright.journal.ids import ThreadKey
from turnwright.journal.transact.thread_script import Outcome

log = structlog.get_logger(__name__)


async def commit(parts: Parts, key: ThreadKey, command: RunCommand) -> Outcome:
    """Commit it. Raises what `Journal.run` does."""
    outcome = await parts.journal.run(key, command)
    for entry in outcome.entries:
        if isinstance(entry.payload, TurnCompleted):
            parts.describing.ended(key)
        if isinstance(entry.payload, TurnFailed):
            failed = entry.payload
            log.warning(
                "turn_failed", turn=entry.turn_id, thread=key.canonical, code=failed.code, message=failed.message
            )
    return outcome
