"""Words of running model calls in the store, and who listens to them.

Rule: nothing here is a fact, and no entry depends on it. Only who listens is woken by it: what is said has a topic of
its own beside the thread's.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Iterator, Sequence
from functools import lru_cache
from itertools import groupby

from turnwright.journal.canonical import digest
from turnwright.journal.commands import ClientCommand, RunCommand, Testimony
from turnwright.journal.deltas import Delta, DeltaPlace, Heard
from turnwright.journal.durations import SECOND_US
from turnwright.journal.entries import Draft, ModelInterrupted
from turnwright.journal.ids import ThreadKey
from turnwright.journal.script import Row, Script, Touch, batch, first, rows
from turnwright.journal.transact.rows import TOPICS_CACHED_MAX, clock, find_place

TOPIC = "listeners"
KEPT_S = 3_600
_N, _BLOCK, _KIND, _BODY, _WRITTEN_US = 3, 4, 5, 6, 7  # columns of read_drafts


@lru_cache(maxsize=TOPICS_CACHED_MAX)
def said_topic(key: ThreadKey) -> str:
    """The short name under which words of a thread's model calls are announced."""
    return digest(b"said", key.canonical.encode()).hex()[:24]


def write_deltas(key: ThreadKey, thread_id: int, n: int, said: Sequence[Delta]) -> Script[None]:
    """Keep words as the rows from the `n`th on; again with the same words it changes nothing."""
    now_us = yield from clock()
    yield from batch(
        "insert_draft",
        tuple(
            (thread_id, d.turn_id, d.step, d.ordinal, n + m, d.index, d.kind, d.text, now_us)
            for m, d in enumerate(said)
        ),
    )
    yield Touch(frozenset({said_topic(key)}))


def read_deltas(key: ThreadKey, after: DeltaPlace, *, timed: bool = False) -> Script[tuple[Heard, float | None]]:
    """What the newest attempt of the active turn's model call said behind a place; all of it, if that is another's.

    Where that is `timed`, and not the first of an attempt, also how many seconds ago the oldest of it was written.
    """
    place = yield from find_place(key)
    if place is None:
        return Heard(place=after), None
    attempt = (after.turn_id, after.step, after.ordinal)
    found = yield from rows("read_drafts", place.id, *attempt, after.n)
    if not found:
        return Heard(place=after), None
    heard = Heard(tuple(_joined(found)), DeltaPlace(*found[-1][:_BLOCK]))
    if not timed or tuple(found[0][:_N]) != attempt:
        return heard, None
    return heard, max(0, (yield from clock()) - found[0][_WRITTEN_US]) / SECOND_US


def forget_deltas(thread_id: int, command: ClientCommand | RunCommand, settled: Iterable[Draft]) -> Script[None]:
    """Drop the words of attempts that end here: the command's own, if there are any, and those given up."""
    ended = [
        (thread_id, draft.turn_id, draft.step, draft.payload.ordinal)
        for draft in settled
        if isinstance(draft.payload, ModelInterrupted)
    ]
    if isinstance(command, Testimony) and command.drafted:
        ended.append((thread_id, command.turn_id, command.step, command.ordinal))
    yield from batch("delete_drafts", tuple(ended))


def listen(topic: str, for_us: int) -> Script[None]:
    """Say that somebody listens to a thread, from now for so long."""
    yield from first("listen", topic, (yield from clock()) + for_us)
    yield Touch(frozenset({TOPIC}))


def find_listened(topics: Collection[str]) -> Script[frozenset[str]]:
    """Those of these threads' topics that somebody listens to."""
    found = yield from rows("find_listened", json.dumps(sorted(topics)))
    return frozenset(row[0] for row in found)


def prune_deltas() -> Script[None]:
    """Drop what crashes have left, and who has not listened for a while."""
    now_us = yield from clock()
    yield from first("prune_drafts", now_us - KEPT_S * SECOND_US)
    yield from first("prune_listeners", now_us)
    yield Touch(frozenset({TOPIC}))


def _joined(found: Iterable[Row]) -> Iterator[Delta]:
    """Rows in order as deltas, those of the same block that follow each other as one."""
    for (turn_id, step, ordinal, block, kind), same in groupby(found, lambda row: (*row[:3], row[_BLOCK], row[_KIND])):
        text = "".join(row[_BODY] for row in same)
        yield Delta(turn_id=turn_id, step=step, ordinal=ordinal, index=block, kind=kind, text=text)
