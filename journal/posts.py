"""What a transaction on one thread asks of another: to open a child, to end one, to take in its end.

Rule: it is decided from what the transaction records and written in it, so it is asked for once, whatever dies; and it
is taken in by a transaction on the other thread, so no two threads are ever locked at once.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import TypeAlias

from turnwright.journal.budgets import NOTHING, Used
from turnwright.journal.commands import TakeIn
from turnwright.journal.control import ActiveTurn, ThreadControl
from turnwright.journal.entries import ChildSpawned, Entry, TurnCancelled, TurnCompleted, TurnFailed
from turnwright.journal.evolve_control import evolve_control
from turnwright.journal.ids import ThreadKey
from turnwright.journal.lineage import Parent
from turnwright.journal.messages import Frozen, user
from turnwright.journal.sharing import taken
from turnwright.journal.turn_status import FINISHED, TurnStatus

_ENDS = (TurnCompleted, TurnCancelled, TurnFailed)
_ASKING = (*_ENDS, ChildSpawned)


class ChildEnd(Frozen):
    """To the parent's thread: a child of that turn has ended. What it said is read where it stands."""

    parent_turn: str
    child_thread: str
    child_turn: str
    used: Used = NOTHING


class ChildCancel(Frozen):
    """To the child's thread: nobody waits for the turn any more, because its parent ended so."""

    child_turn: str
    parent_turn: str
    parent_phase: str
    principal: str = ""


@dataclass(frozen=True, slots=True)
class Post:
    """Something for the thread `to`. `child_turn` is whom it is about."""

    to: ThreadKey
    child_turn: str
    what: TakeIn | ChildEnd | ChildCancel


Posts: TypeAlias = tuple[Post, ...]


def posts_of(
    key: ThreadKey, before: ThreadControl, entries: Iterable[Entry], changed: Mapping[str, TurnStatus]
) -> Posts:
    """What follows for other threads from entries on this one.

    Args:
        key: the thread.
        before: its control before them.
        entries: what is committed.
        changed: the rows of the turns whose status they changed.
    """
    entries = tuple(entries)
    if not any(isinstance(entry.payload, _ASKING) for entry in entries):
        return ()
    posts: list[Post] = []
    control = before
    for entry in entries:
        active = control.turn(entry.turn_id or "")
        match entry.payload:
            case ChildSpawned() as spawned:
                posts.append(_opening(key, entry, spawned))
            case TurnCompleted() | TurnCancelled() | TurnFailed() as end:
                posts += _cancels(key, active, end)
                posts += _told(key, changed.get(entry.turn_id or ""), active)
            case _:
                pass
        control = evolve_control(control, entry)
    return tuple(posts)


def _opening(key: ThreadKey, entry: Entry, spawned: ChildSpawned) -> Post:
    parent = Parent(
        agent=key.agent,
        thread=key.thread,
        turn_id=entry.turn_id or "",
        call_id=spawned.call_id,
        depth=spawned.depth,
        detached=spawned.detached,
    )
    task = TakeIn(
        request_id=spawned.request_id,
        principal=f"turn {parent.turn_id}",
        turn_id=spawned.child_turn,
        input=user(spawned.task),
        budget=spawned.budget,
        parent=parent,
    )
    return Post(replace(key, agent=spawned.agent, thread=spawned.child_thread), spawned.child_turn, task)


def _cancels(key: ThreadKey, active: ActiveTurn | None, end: TurnCompleted | TurnCancelled | TurnFailed) -> list[Post]:
    if active is None:
        return []
    phase = "cancelled" if isinstance(end, TurnCancelled) else "failed"
    principal = end.principal if isinstance(end, TurnCancelled) else ""
    return [
        Post(
            child.beside(key),
            child.turn_id,
            ChildCancel(child_turn=child.turn_id, parent_turn=active.turn_id, parent_phase=phase, principal=principal),
        )
        for child in active.children
    ]


def _told(key: ThreadKey, status: TurnStatus | None, active: ActiveTurn | None) -> list[Post]:
    if status is None or status.phase not in FINISHED or status.parent is None or status.parent.detached:
        return []
    end = ChildEnd(
        parent_turn=status.parent.turn_id,
        child_thread=key.canonical,
        child_turn=status.turn_id,
        used=NOTHING if active is None else taken(active),
    )
    return [Post(status.parent.beside(key), status.turn_id, end)]
