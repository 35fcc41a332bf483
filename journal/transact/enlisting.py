"""Submits in a transaction of their caller: what may be said before it, and what is done after its commit.

Rule: the caller's transaction writes one row to the inbox and locks nothing of ours. After its commit whoever looks
takes the rows in, the first of a thread first, each in a transaction that also deletes it; so it is done once, however
many look. A request is remembered with its turn, as of any submit.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, fields, replace
from functools import cache

from pydantic import TypeAdapter

from turnwright.journal.canonical import encode
from turnwright.journal.codec import is_newer, problem
from turnwright.journal.commands import Receipt, Rejection, Submit, TakeIn
from turnwright.journal.control import ThreadControl
from turnwright.journal.decide import decide
from turnwright.journal.decide.context import UNKNOWN_SESSION
from turnwright.journal.edge import storable
from turnwright.journal.errors import StoreError
from turnwright.journal.facts import Facts
from turnwright.journal.ids import ThreadKey, owner_prefix, tenant_prefix
from turnwright.journal.ids import turn_id as turn_of
from turnwright.journal.messages import Media, media_of
from turnwright.journal.script import Script, first, rows
from turnwright.journal.transact.appending import check_media
from turnwright.journal.transact.commands import Undo, carry_out, lock_for
from turnwright.journal.transact.listing import ANONYMOUS, ANY_USER
from turnwright.journal.transact.overview import TurnPage
from turnwright.journal.transact.posted import posted_in, take_posted
from turnwright.journal.transact.reading import missing_blobs
from turnwright.journal.transact.requests import content_digest, given, rejected, remembered, reused
from turnwright.journal.transact.rows import clock, find_session, find_thread
from turnwright.journal.transact.thread_script import Terms
from turnwright.journal.turn_status import TurnStatus
from turnwright.journal.why import Scene

FOR_EVER = frozenset({"unknown_session", "session_closed", "thread_closed"})
_FIELDS = frozenset(field.name for field in fields(TakeIn))
_DELETE = "delete its row from the table `inbox` and submit anew"
_NEWER = "an enlisted request is of a newer version; upgrade this process"
UNNAMED = "a row of the table `inbox` names no thread; delete it"


class EnlistedFirst(Exception):
    """Leaves the transaction of a command: what was enlisted before it is to be taken in before it."""


@dataclass(frozen=True, slots=True)
class Taken:
    """What became of a row of the inbox: its request's receipt; None: somebody was faster, or its session is gone."""

    receipt: Receipt | None = None


@dataclass(frozen=True, slots=True)
class InboxPage:
    """Threads that something was enlisted for. `after`: where the next page begins; None when there is no more.

    `places` are the first rows of each, `unnamed` is what stands in rows where a thread should: nobody takes these in.
    """

    keys: tuple[ThreadKey, ...]
    after: int | None
    places: tuple[int, ...] = ()
    unnamed: tuple[str, ...] = ()


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
    """What a row asks for. Applications may write to the inbox, so it may hold anything.

    Raises:
        StoreError: it is of a newer version, or none of ours.
    """
    try:
        command, said = storable(_requests().validate_json(body)), json.loads(body).keys()
    except (ValueError, TypeError, RecursionError) as error:
        if is_newer(error):
            raise StoreError(_NEWER) from error
        raise StoreError(f"an enlisted request cannot be read ({problem(error)}); {_DELETE}") from error
    if said - _FIELDS:
        raise StoreError(_NEWER)
    return command


@cache
def _requests() -> TypeAdapter[TakeIn]:
    return TypeAdapter(TakeIn)


# -- after it --------------------------------------------------------------------------------------


def find_inbox(after: int, limit: int) -> Script[InboxPage]:
    """A page of the inbox: the threads of its rows, by the first of each."""
    found = yield from rows("enlisted_page", after, limit)
    places: dict[str, int] = {}
    for place, spelled in found:
        places.setdefault(spelled, place)
    keys = {spelled: key_spelled(spelled) for spelled in places}
    named = {key: places[spelled] for spelled, key in keys.items() if key is not None}
    unnamed = tuple(spelled for spelled, key in keys.items() if key is None)
    return InboxPage(tuple(named), found[-1][0] if len(found) == limit else None, tuple(named.values()), unnamed)


def key_spelled(spelled: str) -> ThreadKey | None:
    """The thread that a row is for; None: it names none, and one such row must not hold up all the others."""
    try:
        key = ThreadKey.parse(spelled).checked()
    except (ValueError, TypeError, RecursionError):
        return None
    return key if key.canonical == spelled else None


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
        StoreError: the row is of a newer version, and waits for a process of that, or none of ours.
    """
    found = yield from first("first_enlisted", key.canonical)
    if found is None:
        return None
    posted = posted_in(bytes(found[1]))
    if posted is not None:
        yield from take_posted(key, found[0], posted, terms)
        return Taken()
    command = _own(key, _command_of(bytes(found[1])))
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


def _own(key: ThreadKey, command: TakeIn) -> TakeIn:
    """The command, if its turn is the one that its thread and request make: another thread's would be written over."""
    if command.turn_id != turn_of(key, command.request_id):
        raise StoreError(f"the enlisted request {command.request_id!r} names the turn of another one; {_DELETE}")
    return command


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


def find_enlisted_named(
    tenant: str, user: str, beginning: str, limit: int
) -> Script[tuple[tuple[str, ThreadKey], ...]]:
    """Turns of a tenant that wait to be taken in and whose id begins so, with their threads.

    `user` is as in `TurnFilter`.
    """
    whose = tenant_prefix(tenant) if user == ANY_USER else owner_prefix(tenant, None if user == ANONYMOUS else user[1:])
    found = yield from rows("enlisted_named", beginning, f"{beginning}g", whose, limit)
    return tuple((turn, key) for turn, spelled in found if (key := key_spelled(spelled)) is not None)


def _find(key: ThreadKey, turn_id: str) -> Script[TurnStatus | None]:
    """The turn as it will begin."""
    row = yield from first("find_enlisted", turn_id)
    if row is None or row[0] != key.canonical:
        return None
    return TurnStatus(turn_id=turn_id, request_id=row[1], revision=0, queued_at_us=row[2])
