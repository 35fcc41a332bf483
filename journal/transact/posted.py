"""Taking in what a transaction on another thread asked of this one.

Rule: the row goes with the transaction that does what it asks, or that finds it done: what is asked of a turn that has
ended, or of a child that nobody waits for, changes nothing.
"""

from __future__ import annotations

import json
from typing import Any

from pydantic import ValidationError

from turnwright.journal.codec import is_newer, problem
from turnwright.journal.commands import CancelTurn, ClientCommand, EndChild, RunCommand
from turnwright.journal.entries import ModelResponded
from turnwright.journal.errors import StoreError
from turnwright.journal.ids import ThreadKey
from turnwright.journal.messages import Media, Text
from turnwright.journal.posts import ChildCancel, ChildEnd
from turnwright.journal.script import Script, first
from turnwright.journal.transact.locking import lock_in_session
from turnwright.journal.transact.overview import find_turn_entry
from turnwright.journal.transact.posting import CANCEL, END
from turnwright.journal.transact.rows import find_place
from turnwright.journal.transact.thread_script import Terms, run_thread
from turnwright.journal.transact.turns import find_turn
from turnwright.journal.turn_status import TurnStatus, cancel_words

_KINDS: dict[str, type[ChildEnd | ChildCancel]] = {END: ChildEnd, CANCEL: ChildCancel}
SAID_NOTHING = Text(text="It ended without an answer.")
ERASED = Text(text="Its answer was erased.")


def posted_in(body: bytes) -> ChildEnd | ChildCancel | None:
    """What a row asks for that is no submit; None: it is one, or none of ours.

    Raises:
        StoreError: a newer version wrote it, or it cannot be read.
    """
    try:
        said: Any = json.loads(body)
        kind = next((kind for kind in _KINDS if kind in said), None) if isinstance(said, dict) else None
        return None if kind is None else _KINDS[kind].model_validate(said[kind])
    except ValidationError as error:
        then = "upgrade this process" if is_newer(error) else "delete its row from the table `inbox`"
        raise StoreError(f"what another thread asked cannot be read ({problem(error)}); {then}") from error
    except (ValueError, RecursionError):
        return None


def take_posted(key: ThreadKey, place: int, posted: ChildEnd | ChildCancel, terms: Terms) -> Script[None]:
    """Do what it asks of the thread; `place` is its row."""
    locked = yield from lock_in_session(key)
    if (yield from first("take_enlisted", place, key.canonical)) is None:
        return
    if locked is None or locked.session.deleted:
        return
    command: ClientCommand | RunCommand | None
    command = _cancel(posted) if isinstance(posted, ChildCancel) else (yield from _end(posted))
    if command is not None:
        yield from run_thread(locked, command, terms)


def _cancel(posted: ChildCancel) -> CancelTurn:
    return CancelTurn(
        request_id=f"{CANCEL}:{posted.child_turn}",
        turn_id=posted.child_turn,
        principal=posted.principal or f"turn {posted.parent_turn}",
        reason=f"its parent, turn {posted.parent_turn}, {_ENDED.get(posted.parent_phase, 'ended')}",
    )


_ENDED = {"cancelled": "was cancelled", "failed": "failed"}


def _end(posted: ChildEnd) -> Script[EndChild | None]:
    """The child's end; None while it goes on after all, for a failed turn may have been retried: it will end again."""
    child = ThreadKey.parse(posted.child_thread)
    place = yield from find_place(child)
    status = None if place is None else (yield from find_turn(posted.child_turn, place.id))
    if status is not None and not status.finished:
        return None
    done = status is not None and status.phase == "completed"
    output = (yield from _answer(child, status)) if status is not None and done else (_failure(status),)
    return EndChild(
        turn_id=posted.parent_turn,
        child_turn=posted.child_turn,
        phase="failed" if status is None else status.phase,
        used=posted.used,
        outcome="success" if done else "error",
        output=output,
    )


def _answer(child: ThreadKey, status: TurnStatus) -> Script[tuple[Text | Media, ...]]:
    entry = yield from find_turn_entry(child, status.turn_id, status.output_message or "")
    if entry is None or not isinstance(entry.payload, ModelResponded):
        return (ERASED,)
    return tuple(b for b in entry.payload.blocks if isinstance(b, Text | Media)) or (SAID_NOTHING,)


def _failure(status: TurnStatus | None) -> Text:
    if status is None:
        return Text(text="The subagent is gone.")
    if status.phase == "cancelled":
        because = f": {status.message}" if status.message else ""
        return Text(text=f"The subagent was cancelled {cancel_words(status.code)}{because}.")
    return Text(text=f"The subagent failed ({status.code}): {status.message}")
