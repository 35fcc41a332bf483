"""Turns as rows of a table."""

from __future__ import annotations

from collections.abc import Sequence

from turnwright.client.cli.screen import Screen, local
from turnwright.client.cli.unreadable import UNREADABLE, note_unreadable
from turnwright.journal.durations import human
from turnwright.journal.transact.listing import TurnSeen

ID_CHARACTERS_MIN = 10
COLUMNS = ("turn", "status", "agent", "thread", "session", "user", "queued", "took")


def turn_table(turns: Sequence[TurnSeen], screen: Screen, *, none: str = "there are no turns") -> None:
    """The turns in a table, their ids as long as they must be."""
    names = shortened([seen.status.turn_id for seen in turns])
    screen.table(COLUMNS, [_row(seen, names[seen.status.turn_id]) for seen in turns], none)
    note_unreadable(turns, screen)


def shortened(ids: Sequence[str]) -> dict[str, str]:
    """Each id cut to the length at which all of these still differ."""
    longest = max(map(len, ids), default=0)
    length = next(
        (n for n in range(ID_CHARACTERS_MIN, longest) if len({name[:n] for name in ids}) == len(set(ids))), longest
    )
    return {name: name[:length] for name in ids}


def _row(seen: TurnSeen, name: str) -> tuple[str, ...]:
    status, key = seen.status, seen.key
    took = (
        "" if status.ended_at_us is None else human(status.ended_at_us - (status.started_at_us or status.ended_at_us))
    )
    return name, _shown(seen), key.agent, key.thread, key.session, key.user or "", local(status.queued_at_us), took


def _shown(seen: TurnSeen) -> str:
    if seen.unreadable:
        return UNREADABLE
    code = seen.status.code
    return f"{seen.shown} ({code})" if seen.shown == "failed" and code else seen.shown
