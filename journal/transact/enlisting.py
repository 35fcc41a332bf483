"""Submits in a transaction of their caller: what may be said before it, and what is done after its commit.

Rule: the caller's transaction writes one row to the inbox and locks nothing of ours. After its commit whoever looks
takes the rows in, the first of a thread first, each in a transaction that also deletes it; so it is done once, however
many look. A request is remembered with its turn, as of any submit.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, replace

from turnwright.journal.budgets import Budget
from turnwright.journal.canonical import encode
from turnwright.journal.commands import Receipt, Rejection, Submit, TakeIn
from turnwright.journal.control import ThreadControl
from turnwright.journal.decide import decide
from turnwright.journal.decide.context import UNKNOWN_SESSION
from turnwright.journal.errors import StoreError
from turnwright.journal.facts import Facts
from turnwright.journal.ids import ThreadKey, tenant_prefix
from turnwright.journal.messages import Media, Message, media_of
from turnwright.journal.script import Script, first, rows
from turnwright.journal.transact.appending import check_media
from turnwright.journal.transact.commands import Undo, carry_out, lock_for
from turnwright.journal.transact.overview import TurnPage
from turnwright.journal.transact.reading import missing_blobs
from turnwright.journal.transact.requests import content_digest, given, rejected, remembered, reused
from turnwright.journal.transact.rows import clock, find_session, find_thread
from turnwright.journal.transact.thread_script import Terms
from turnwright.journal.turn_status import TurnStatus
from turnwright.journal.why import Scene

TOPIC = "inbox"
FOR_EVER = frozenset({"unknown_session", "session_closed", "thread_closed"})


class EnlistedFirst(Exception):
    """Leaves the transaction of a command: what was enlisted before it is to be taken in before it."""


@dataclass(frozen=True, slots=True)
class Taken:
    """What became of a row of the inbox: its request's receipt; None: somebody was faster, or its session is gone."""

    receipt: Receipt | None = None


@dataclass(frozen=True, slots=True)
class InboxPage:
    """Threads that something was enlisted for. `after`: where the next page begins; None when there is no more."""

    keys: tuple[ThreadKey, ...]
    after: int | None


# -- before the caller's commit --------------------------------------------------------------------


def look_ahead(key: ThreadKey, command: Submit) -> Script[tuple[str, Receipt | None]]:
    """The journal's id, and the command's receipt if it is known already: it came before, or can never be queued.

    Raises:
        InvalidInput: media in it refer to bytes that are nowhere.
    """
    row = yield from first("journal_id")
    assert row is not None
    return str(row[0]), (yield from _known(key, command))


def _known(key: ThreadKey, command: Submit) -> Script[Receipt | None]:
    session = yield from find_session(key.session_key)
    if session is None or session.deleted:
        return rejected(command, UNKNOWN_SESSION)
    thread = yield from find_thread(key)
    known = None if thread is None else (yield from remembered(thread.id, command))
    if known is not None:
        return known
    control = ThreadControl() if thread is None else thread.control
    decision = decide(control, session.control, Facts(now_us=(yield from clock())), command)
    if isinstance(decision, Rejection) and decision.code in FOR_EVER:
        return rejected(command, decision)
    yield from check_media(key.session_key, session.id, command.input, {})
    return None


def body_of(command: Submit) -> bytes:
    """The request as a row of the inbox keeps it."""
    return encode(given(command))


def receipt_of(command: Submit, known: bytes | None) -> Receipt:
    """The receipt of an enlisted submit; `known`: the row that the transaction could see for its turn already."""
    receipt = Receipt(command.request_id, "enlisted", turn_id=command.turn_id)
    if known is None:
        return receipt
    same = content_digest(_command_of(known)) == content_digest(command)
    return replace(receipt, duplicate=True) if same else reused(command)


def _command_of(body: bytes) -> TakeIn:
    said = json.loads(body)
    budget = said.get("budget")
    try:
        return TakeIn(
            **said
            | {"input": Message.model_validate(said["input"])}
            | {"budget": None if budget is None else Budget.model_validate(budget)}
        )
    except (TypeError, ValueError) as error:  # a field this version does not know
        request = said.get("request_id")
        raise StoreError(f"the enlisted request {request!r} is of a newer version; upgrade this process") from error


# -- after it --------------------------------------------------------------------------------------


def find_inbox(after: int, limit: int) -> Script[InboxPage]:
    """A page of the inbox: the threads of its rows, by the first of each."""
    found = yield from rows("enlisted_page", after, limit)
    keys = dict.fromkeys(row[1] for row in found)
    return InboxPage(tuple(map(ThreadKey.parse, keys)), found[-1][0] if len(found) == limit else None)


def after_enlisted(key: ThreadKey) -> Script[None]:
    """Go on only if nothing waits to be taken in.

    Raises:
        EnlistedFirst: something does.
    """
    if (yield from first("first_enlisted", key.canonical)) is not None:
        raise EnlistedFirst


def take_first(key: ThreadKey, terms: Terms) -> Script[Taken | None]:
    """Take in what was enlisted for the thread first; None: nothing was.

    Raises:
        Undo: the session was deleted this very moment; look again.
        StoreError: the row is of a newer version, and waits for a process of that.
    """
    found = yield from first("first_enlisted", key.canonical)
    if found is None:
        return None
    command = _command_of(bytes(found[1]))
    try:
        locked = yield from lock_for(key, command)
    except Undo:
        yield from first("take_enlisted", found[0], key.canonical)  # a deleted session never comes back
        return Taken()
    if locked.session.deleted:
        raise Undo(rejected(command, UNKNOWN_SESSION))
    if (yield from first("take_enlisted", found[0], key.canonical)) is None:
        return Taken()
    command = yield from _without_gone_media(locked.session.id, command)
    done = yield from carry_out(locked, command, terms)
    return Taken(done.receipt)


def _without_gone_media(session_id: int, command: TakeIn) -> Script[TakeIn]:
    """Without references to bytes that were erased since; nobody is there to be told, but the model will be."""
    gone = yield from missing_blobs(session_id, set(media_of(command.input)))
    blocks = tuple(
        block.model_copy(update={"blob": None}) if isinstance(block, Media) and block.blob in gone else block
        for block in command.input.blocks
    )
    return replace(command, input=command.input.model_copy(update={"blocks": blocks})) if gone else command


# -- meanwhile -------------------------------------------------------------------------------------


def see_enlisted(key: ThreadKey, turn_id: str) -> Script[Scene | None]:
    """A turn that waits to be taken in, with its surroundings."""
    found = yield from _find(key, turn_id)
    session = None if found is None else (yield from find_session(key.session_key))
    if found is None or session is None or session.deleted:
        return None
    thread = yield from find_thread(key)
    control, last_at_us = (ThreadControl(), 0) if thread is None else (thread.control, thread.at_us)
    now_us = yield from clock()
    return Scene(key, found, control, session.control, now_us=now_us, last_at_us=last_at_us, enlisted=True)


def read_enlisted_page(key: ThreadKey, turn_id: str, after_seq: int) -> Script[TurnPage | None]:
    """The entries of a turn that waits to be taken in: none yet."""
    found = yield from see_enlisted(key, turn_id)
    return None if found is None else TurnPage((), after_seq, last=False)


def find_enlisted_named(tenant: str, beginning: str, limit: int) -> Script[tuple[tuple[str, ThreadKey], ...]]:
    """Turns of a tenant that wait to be taken in and whose id begins so, with their threads."""
    found = yield from rows("enlisted_named", beginning, f"{beginning}g", tenant_prefix(tenant), limit)
    return tuple((row[0], ThreadKey.parse(row[1])) for row in found)


def _find(key: ThreadKey, turn_id: str) -> Script[TurnStatus | None]:
    """The turn as it will begin."""
    row = yield from first("find_enlisted", turn_id)
    if row is None or row[0] != key.canonical:
        return None
    return TurnStatus(turn_id=turn_id, request_id=row[1], revision=0, queued_at_us=row[2])
