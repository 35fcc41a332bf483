"""The inbox: questions to people over all sessions of a tenant, in pages.

Rule: oldest first, for who waits longest comes first; the place to go on is that of the last item, so a page never
shifts. A large question is only named: `find_interaction` reads it.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Literal

from turnwright.journal.entries import InteractionRequested
from turnwright.journal.errors import InvalidInput
from turnwright.journal.ids import SessionKey, ThreadKey
from turnwright.journal.interactions import Interaction, QuestionState
from turnwright.journal.script import Row, Script, first, rows
from turnwright.journal.transact.interactions import asked_of, read_asked
from turnwright.journal.transact.listing import ANY_USER, DIGITS_MAX, Page
from turnwright.journal.transact.rows import find_session_id
from turnwright.journal.transact.started import StartedCall, read_started

Wanted = Literal["open", "resolved", "expired", "cancelled", "any"]
_OLDEST = (0, 0, "")
_COLUMNS = len(fields(Interaction))


@dataclass(frozen=True, slots=True)
class InboxFilter:
    """Which questions of a tenant to list. `user` as in `TurnFilter`; empty texts stand for any."""

    tenant: str
    session: SessionKey | None = None
    user: str = ANY_USER
    agent: str = ""
    thread: str = ""
    kind: str = ""
    tool: str = ""
    state: Wanted = "open"


@dataclass(frozen=True, slots=True)
class Question:
    """A question of an inbox. `asked` None: it was erased, or (`large`) is too large for a list.

    `started`: the call whose outcome is unknown, if the question is about one; a list does not tell it.
    """

    key: ThreadKey
    turn_id: str
    row: Interaction
    asked: InteractionRequested | None
    large: bool = False
    started: StartedCall | None = None

    @property
    def state(self) -> QuestionState:
        """Whether it is open, or how it ended."""
        return self.row.state


def read_inbox(wanted: InboxFilter, after: str | None, limit: int) -> Script[Page[Question] | None]:
    """A page of questions, oldest first; None when the filter's session does not exist."""
    owner: str | int = wanted.tenant
    if wanted.session is not None:
        session_id = yield from find_session_id(wanted.session)
        if session_id is None:
            return None
        owner = session_id
    found = yield from rows(
        _statement(wanted), owner, "" if wanted.state == "any" else wanted.state, *_place(after), limit,
        wanted.agent, wanted.thread, wanted.kind, wanted.tool, wanted.user,
    )  # fmt: skip
    items = tuple(_question(row) for row in found)
    return Page(items, _cursor(found[-1]) if len(found) == limit else None)


def find_interaction(tenant: str, interaction_id: str) -> Script[Question | None]:
    """A question of a tenant by its id, open or not, with what was called if nobody knows what became of it."""
    row = yield from first("interaction_named", tenant, interaction_id)
    if row is None:
        return None
    key, question = ThreadKey.parse(row[0]), Interaction(*row[2:])
    asked = yield from read_asked(key, row[1], question.asked_seq)
    started = yield from read_started(key, row[1], question.turn_id, question.asked_seq, asked)
    return Question(key, question.turn_id, question, asked, started=started)


def _statement(wanted: InboxFilter) -> str:
    """One that has an index for it."""
    if wanted.state == "open":
        return "inbox_open" if wanted.session is None else "inbox_open_of_session"
    return "inbox_of_tenant" if wanted.session is None else "inbox_of_session"


def _question(row: Row) -> Question:
    key, question = ThreadKey.parse(row[0]), Interaction(*row[1 : 1 + _COLUMNS])
    version, body, blob = row[2 + _COLUMNS :]
    asked = asked_of(key, question.asked_seq, InteractionRequested.TYPE, version, body)
    return Question(key, question.turn_id, question, asked, large=blob is not None)


def _cursor(row: Row) -> str:
    question = Interaction(*row[1 : 1 + _COLUMNS])
    return f"{question.asked_us}.{row[1 + _COLUMNS]}.{question.interaction_id}"


def _place(cursor: str | None) -> tuple[int, int, str]:
    if cursor is None:
        return _OLDEST
    asked_us, _, rest = cursor.partition(".")
    thread_id, _, interaction_id = rest.partition(".")
    if not (interaction_id and _is_number(asked_us) and _is_number(thread_id)):
        raise InvalidInput(f"{cursor!r} is no place in a list; give the `next` of the page before")
    return int(asked_us), int(thread_id), interaction_id


def _is_number(text: str) -> bool:
    return text.isascii() and text.isdecimal() and len(text) < DIGITS_MAX
