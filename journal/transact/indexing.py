"""What can be found of entries: rows of `texts`, written with the entries or, for those of before, afterwards.

Rule: whoever appends indexes what is appended, in the same statement or transaction. `searched_seq` follows the head as
long as nothing was left out: a thread whose head is ahead of it has entries of a version without a search, or is to be
indexed anew. That is done in pieces, each under the thread's lock, by whoever comes along.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache

from turnwright.journal.canonical import digest, encode
from turnwright.journal.entries import Entry, Payload
from turnwright.journal.errors import UNREADABLE
from turnwright.journal.ids import ThreadKey
from turnwright.journal.script import Script, TextRow, batch, first, rows
from turnwright.journal.search.query import spelled
from turnwright.journal.search.texts import said_in
from turnwright.journal.search.words import words_of
from turnwright.journal.transact.reading import entry_of

ENTRIES_INDEXED_MAX = 200
BYTES_INDEXED_MAX = 2 * 1024 * 1024
OWNER_HEX_DIGITS = 16
OWNERS_CACHED_MAX = 4_096
OWNER_SIGN = "="


@lru_cache(maxsize=OWNERS_CACHED_MAX)
def owner_of(tenant: str, *user: str | None) -> str:
    """The word that stands for a tenant, or for one of its users (None: the anonymous one)."""
    short = digest(encode([tenant, *user])).hex()[:OWNER_HEX_DIGITS]
    return f"u{short}" if user else f"t{short}"


def owner_session(session_id: int) -> str:
    """The word that stands for a session."""
    return f"s{session_id}"


def text_rows(key: ThreadKey, session_id: int, entries: Iterable[Entry]) -> tuple[TextRow, ...]:
    """A row for each entry in which something can be found."""
    made = (_text_row(key, session_id, entry.seq, entry.payload) for entry in entries)
    return tuple(row for row in made if row is not None)


def _text_row(key: ThreadKey, session_id: int, seq: int, payload: Payload) -> TextRow | None:
    said = said_in(payload)
    words = [] if said is None else words_of(said.text)
    if not words:
        return None
    owners = (owner_of(key.tenant), owner_of(key.tenant, key.user), owner_session(session_id))
    return TextRow(seq, len(words), spelled([OWNER_SIGN + owner for owner in owners]), spelled(words))


def index_some(canonical: str) -> Script[bool]:
    """Index the next piece of a thread; whether all of it can be found now, or nobody may find it any more."""
    key = ThreadKey.parse(canonical)
    locked = yield from first("lock_in_session", canonical, key.session_key.canonical)
    if locked is None or locked[-2] is not None:
        return True
    return (yield from index_piece(key, int(locked[0]), int(locked[1]), int(locked[2])))


def index_piece(key: ThreadKey, thread_id: int, session_id: int, head_seq: int) -> Script[bool]:
    """Index the next piece of a thread that is locked; whether all of it can be found now."""
    canonical = key.canonical
    searched = yield from first("find_searched", thread_id)
    assert searched is not None, "it is locked"
    if searched[0] == head_seq:
        return True
    bounds = (thread_id, searched[0], ENTRIES_INDEXED_MAX, BYTES_INDEXED_MAX)
    [(found_end,)] = yield from rows("thread_page_end", *bounds)
    end: int = head_seq if found_end is None else found_end
    found = yield from rows("read_entries", thread_id, searched[0], end, ENTRIES_INDEXED_MAX)
    made: list[TextRow] = []
    for row in found:
        try:
            made += text_rows(key, session_id, [entry_of(row, canonical)])
        except UNREADABLE:  # what nobody can read nobody finds; `verify` says what is wrong with it
            continue
    yield from first("delete_texts_between", thread_id, searched[0], end)
    yield from batch("insert_text", tuple((thread_id, text.seq, session_id, *text[1:]) for text in made))
    yield from first("move_searched", thread_id, end)
    return end == head_seq


def unsearched_threads(after: int, limit: int) -> Script[tuple[list[str], int | None]]:
    """Of a page of threads, by id, the keys of those that are not indexed; and where the next page begins."""
    found = yield from rows("unsearched_page", after, limit)
    return [key for _, key in found if key is not None], found[-1][0] if len(found) == limit else None


def forget_searched(after: int, limit: int) -> Script[int | None]:
    """Have a page of threads indexed anew; where the next page begins. What was found is found meanwhile."""
    found = yield from rows("forget_searched", after, limit)
    return max(row[0] for row in found) if len(found) == limit else None
