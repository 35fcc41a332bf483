"""Search in what people and agents said.

Rule: the index narrows to the owner's texts, and tenant, user and session are compared all the same. Of all that fits
the newest are ranked, a bounded number, so a common word costs no more than that. The place to go on holds up to which
text the first page looked, so what is said meanwhile moves nothing; snippets are made for the hits of the page only,
from the entries themselves.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass
from typing import NamedTuple

from turnwright.journal.canonical import encode
from turnwright.journal.entries import Entry
from turnwright.journal.errors import UNREADABLE, InvalidInput
from turnwright.journal.ids import SessionKey, ThreadKey
from turnwright.journal.script import Script, first, rows
from turnwright.journal.search.query import Query, Term, parse_query
from turnwright.journal.search.ranking import SCALE, rank_of
from turnwright.journal.search.snippets import SnippetPart, snippet_of
from turnwright.journal.search.texts import Role, said_in
from turnwright.journal.transact.indexing import owner_of, owner_session
from turnwright.journal.transact.listing import ANONYMOUS, ANY_USER, Page
from turnwright.journal.transact.reading import entry_of
from turnwright.journal.transact.rows import find_session_id

HITS_MAX = 100
RANKED_TEXTS_MAX = 2_000
_ANY_ID = 2**62
_DIGITS_MAX = 20


@dataclass(frozen=True, slots=True)
class SearchFilter:
    """Whose texts to search. `user`: as in `TurnFilter`."""

    tenant: str
    text: str
    session: SessionKey | None = None
    user: str = ANY_USER


@dataclass(frozen=True, slots=True)
class SearchHit:
    """A text in which all that was asked for occurs.

    `role` is who said it (`title`: it is what the session is called, and `key` is that of the session's log). `rank`
    is between 0 and 1, the best first. `snippet` is the stretch of the text that shows why it was found.
    """

    key: ThreadKey
    turn_id: str | None
    seq: int
    role: Role
    at_us: int
    rank: float
    snippet: tuple[SnippetPart, ...]

    @property
    def text(self) -> str:
        """The snippet as one text."""
        return "".join(part.text for part in self.snippet)


class _Place(NamedTuple):
    """How good a text is, and which; the greater, the further in front."""

    rank: int
    id: int


class _Found(NamedTuple):
    place: _Place
    thread_id: int
    key: str
    seq: int


def search(wanted: SearchFilter, after: str | None, limit: int) -> Script[Page[SearchHit] | None]:
    """A page of hits, the best first, the newest of equals; None when the filter's session does not exist.

    Raises:
        InvalidInput: there is no word in what is searched for, or `after` is no place of a search.
    """
    query = parse_query(wanted.text)
    as_of, behind = (_ANY_ID, None) if after is None else _place_of(after)
    session_id = 0
    if wanted.session is not None:
        session_id = (yield from find_session_id(wanted.session)) or 0
        if not session_id:
            return None
    yield from first("prepare_search")
    found = yield from rows(
        "search_texts",
        _owner(wanted, session_id), _asked(query.terms), _asked(query.without), wanted.tenant, _user(wanted),
        session_id, as_of, RANKED_TEXTS_MAX,
    )  # fmt: skip
    ranked = sorted(
        (
            _Found(_Place(rank_of(json.loads(n), size), id_), thread_id, key, seq)
            for id_, thread_id, key, seq, size, n in found
        ),
        reverse=True,
    )
    left = [one for one in ranked if behind is None or one.place < behind]
    hits: list[SearchHit] = []
    for one in left[:limit]:
        hit = yield from _hit(one, query)
        hits += [] if hit is None else [hit]
    if len(left) <= limit:
        return Page(tuple(hits))
    newest = min(as_of, max(one.place.id for one in ranked))
    return Page(tuple(hits), f"{newest}.{left[limit - 1].place.rank}.{left[limit - 1].place.id}")


def _owner(wanted: SearchFilter, session_id: int) -> str:
    """The narrowest word that stands for all whose texts are wanted."""
    if session_id:
        return owner_session(session_id)
    if wanted.user == ANY_USER:
        return owner_of(wanted.tenant)
    return owner_of(wanted.tenant, None if wanted.user == ANONYMOUS else wanted.user[1:])


def _user(wanted: SearchFilter) -> str:
    if wanted.session is None:
        return wanted.user
    return ANONYMOUS if wanted.session.user is None else f"+{wanted.session.user}"


def _asked(terms: Iterable[Term]) -> str:
    """Terms as the statement reads them; words of ours only, so nothing in it can mean anything to a store."""
    asked = [
        {"words": term.words, "phrase": " ".join(term.words), "begins": term.begins, "needle": term.needle}
        for term in terms
    ]
    return encode(asked).decode()


def _hit(found: _Found, query: Query) -> Script[SearchHit | None]:
    row = yield from first("read_entries", found.thread_id, found.seq - 1, found.seq, 1)
    if row is None:
        return None
    key = ThreadKey.parse(found.key)
    try:
        entry: Entry = entry_of(row, found.key)
    except UNREADABLE:
        return None
    said = said_in(entry.payload)
    if said is None:
        return None
    snippet = snippet_of(said.text, query)
    return SearchHit(key, entry.turn_id, entry.seq, said.role, entry.at_us, found.place.rank / SCALE, snippet)


def _place_of(cursor: str) -> tuple[int, _Place]:
    parts = cursor.split(".")
    if len(parts) != len(("as_of", "rank", "id")) or not all(map(_is_number, parts)):
        raise InvalidInput(f"{cursor!r:.80} is no place in a search; give the `next` of the page before")
    as_of, rank, id_ = map(int, parts)
    return as_of, _Place(rank, id_)


def _is_number(text: str) -> bool:
    return text.isascii() and text.isdecimal() and len(text) < _DIGITS_MAX
