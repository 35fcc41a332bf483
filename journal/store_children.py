"""Finding the child that a command to its parent is meant for.

Rule: it is found by who opened whom, from the turn that asked upwards, so nobody answers what another family asks.
"""

from __future__ import annotations

from dataclasses import replace

from turnwright.journal.commands import Respond
from turnwright.journal.ids import ThreadKey
from turnwright.journal.store import Journal
from turnwright.journal.store_admin import find_interaction

LEVELS_MAX = 100


async def asked_below(journal: Journal, tenant: str, command: Respond) -> tuple[ThreadKey, Respond] | None:
    """The answer as the turn below the command's takes it that asked, with its thread; None: none of these asked."""
    found = await find_interaction(journal, tenant, command.interaction_id)
    if found is None:
        return None
    key, turn_id = found.key, found.turn_id
    for _ in range(LEVELS_MAX):
        status = await journal.turn(key, turn_id)
        parent = None if status is None else status.parent
        if parent is None:
            return None
        if parent.turn_id == command.turn_id:
            return found.key, replace(command, turn_id=found.turn_id)
        key, turn_id = parent.beside(key), parent.turn_id
    return None
