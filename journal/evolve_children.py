"""`evolve` for the children of the active turn."""

from __future__ import annotations

from typing import Any

from turnwright.journal.control import ActiveTurn, OpenChild
from turnwright.journal.entries import ChildFinished, ChildSpawned, Entry


def child_spawned(active: ActiveTurn, _: Entry, payload: ChildSpawned) -> dict[str, Any]:
    """The turn waits for it, unless it is detached."""
    if payload.detached:
        return {}
    child = OpenChild(
        call_id=payload.call_id,
        agent=payload.agent,
        thread=payload.child_thread,
        turn_id=payload.child_turn,
        budget=payload.budget,
    )
    return {"children": (*active.children, child)}


def child_finished(active: ActiveTurn, _: Entry, payload: ChildFinished) -> dict[str, Any]:
    """It is waited for no more, and what it used counts."""
    left = tuple(child for child in active.children if child.turn_id != payload.child_turn)
    return {"children": left, "by_children": active.by_children + payload.used}
