"""Finding the child that a command to its parent is meant for, and the turns above a child.

Rule: it is found by who opened whom, from the turn that asked upwards, so nobody answers what another family asks.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import replace

from turnwright.journal.commands import Respond
from turnwright.journal.ids import ThreadKey
from turnwright.journal.lineage import Parent
from turnwright.journal.store import Journal
from turnwright.journal.store_admin import find_interaction

LEVELS_MAX = 100


async def asked_below(journal: Journal, tenant: str, command: Respond) -> tuple[ThreadKey, Respond] | None:
    """The answer as the turn below the command's takes it that asked, with its thread; None: none of these asked."""
    found = await find_interaction(journal, tenant, command.interaction_id)
    if found is None:
        return None
    async for _, parent in turns_above(journal, found.key, found.turn_id):
        if parent.turn_id == command.turn_id:
            return found.key, replace(command, turn_id=found.turn_id)
    return None


async def turns_above(journal: Journal, key: ThreadKey, turn_id: str) -> AsyncIterator[tuple[ThreadKey, Parent]]:
    """The call that opened a turn, with its thread; then the one that opened that one's turn, and so on."""
    for _ in range(LEVELS_MAX):
        status = await journal.turn(key, turn_id)
        if status is None or status.parent is None:
            return
        key, turn_id = status.parent.beside(key), status.parent.turn_id
        yield key, status.parent
