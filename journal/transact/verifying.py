"""Prove a journal: chains hold, numbers have no gaps, and everything kept beside the entries is their fold.

Rule: one thread or session is proven on one snapshot, while others go on. Nothing is repaired here, and nothing
that is wrong ends the proof of the rest.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from pydantic import TypeAdapter

from turnwright.journal.agent_state import STATE_REDUCER_VERSION
from turnwright.journal.budgets import Used
from turnwright.journal.commands import Receipt
from turnwright.journal.control import REDUCER_VERSION, SessionControl, ThreadControl
from turnwright.journal.entries import ThreadForked
from turnwright.journal.facts import Facts
from turnwright.journal.ids import SessionKey, ThreadKey
from turnwright.journal.interactions import Interaction
from turnwright.journal.messages import Frozen
from turnwright.journal.script import Row, Script, first, rows
from turnwright.journal.spending import committed
from turnwright.journal.stalls import has_work
from turnwright.journal.transact.bases import hash_at, place_of, walk_based
from turnwright.journal.transact.deadlines import asks_for_budget, earliest_us
from turnwright.journal.transact.rows import dump
from turnwright.journal.transact.schedules import are_as_folded, wrong_ticks
from turnwright.journal.transact.spending import spent_columns
from turnwright.journal.transact.walking import Finding, Walk, begins_at, walk_thread
from turnwright.journal.turn_status import TurnStatus

REQUESTS_PAGE_MAX = 1_000
SUBMIT = "Submit"
_RECEIPT = TypeAdapter(Receipt)


@dataclass(frozen=True, slots=True)
class Proof:
    """What was looked at and what is wrong with it. `erased`: entries whose content is gone, as their log says;
    `sealed`: such that cannot be opened for want of a key. What is folded cannot be compared then, the chain can.
    """

    where: str
    of: Literal["thread", "session", "strays"]
    entries: int = 0
    erased: int = 0
    findings: tuple[Finding, ...] = ()
    sealed: int = 0


@dataclass(frozen=True, slots=True)
class _Head:
    """A row of `raw_thread`."""

    key: str
    session_id: int
    tenant: str
    seq: int
    hash: bytes
    at_us: int
    epoch: int
    control: bytes
    reducer_version: int
    total_bytes: int
    queued: int
    active_turn: str | None
    runnable: int


def verify_thread(thread_id: int) -> Script[Proof | None]:
    """Prove one thread or session log; None when it is gone, or its session was deleted."""
    row = yield from first("raw_thread", thread_id)
    session = None if row is None else (yield from first("raw_session", row[1]))
    if row is None or (session is not None and session[5] is not None):
        return None
    return (yield from prove_thread(thread_id, row, session))


def prove_thread(thread_id: int, row: Row, session: Row | None) -> Script[Proof]:
    """Prove one thread or session log, given its rows of `raw_thread` and `raw_session`."""
    head = _Head(*row)
    try:
        key = ThreadKey.parse(head.key)
    except (ValueError, TypeError):
        return Proof(head.key, "thread", findings=(Finding(head.key, None, "head", "its key cannot be read"),))
    checkpoints: list[Row] = yield from rows("checkpoint_rows", thread_id, STATE_REDUCER_VERSION)
    walk = yield from walk_based(key, thread_id, frozenset(seq for seq, _ in checkpoints))
    return (yield from compare(walk, thread_id, row, session, checkpoints))


def compare(walk: Walk, thread_id: int, row: Row, session: Row | None, checkpoints: Sequence[Row]) -> Script[Proof]:
    """Compare what is kept beside a thread with what its entries add up to; `walk` kept the states of checkpoints."""
    head = _Head(*row)
    _check_head(walk, head)
    if walk.sealed:
        return Proof(head.key, "thread", walk.seq, len(walk.erased), tuple(walk.findings), sealed=len(walk.sealed))
    if walk.whole:
        _check_control(walk, head)
        yield from _check_turns(walk, thread_id, head)
        if head.reducer_version == REDUCER_VERSION:  # an older one is rebuilt, with its questions, before it is used
            yield from _check_questions(walk, thread_id, head)
            yield from _check_spent(walk, thread_id, session)
            for seq in (yield from wrong_ticks(thread_id, walk.ticks)):
                walk.found(seq, "schedule", "the row of a schedule's tick is not what the entry says")
        yield from _check_deadline(walk, thread_id)
        _check_checkpoints(walk, checkpoints)
    yield from _check_bases(walk, thread_id)
    yield from _check_media(walk, head.session_id)
    yield from _check_requests(walk, thread_id)
    yield from _check_texts(walk, thread_id)
    return Proof(head.key, "thread", walk.seq, len(walk.erased), tuple(walk.findings))


def verify_session(session_id: int) -> Script[Proof | None]:
    """Prove a session's control and positions; None when it is gone or deleted."""
    row = yield from first("raw_session", session_id)
    if row is None or row[5] is not None:
        return None
    where, control, version, paused, cancelled_seq, _ = row
    findings: list[Finding] = []
    try:
        key = SessionKey(*json.loads(where))
    except (ValueError, TypeError):
        return Proof(where, "session", findings=(Finding(where, None, "session", "its key cannot be read"),))
    log = yield from first("find_thread", key.log.canonical)
    if log is None:
        findings.append(Finding(where, None, "session", "its log is missing"))
    else:
        walk = yield from walk_thread(key.log, log[0])
        if walk.whole and version == REDUCER_VERSION:
            findings += _check_session(where, walk, bytes(control), (paused, cancelled_seq))
            if not (yield from are_as_folded(session_id, walk.session)):
                findings.append(Finding(where, None, "schedule", "the rows of its schedules are not what its log says"))
    findings += yield from _check_positions(where, session_id)
    return Proof(where, "session", findings=tuple(findings))


def verify_strays() -> Script[Proof]:
    """Rows that belong to nothing."""
    counted = yield from rows("count_strays")
    found = [
        Finding("journal", None, "stray", f"{count} rows of {table} belong to no thread or session")
        for table, count in counted
        if count
    ]
    return Proof("journal", "strays", findings=tuple(found))


def _check_head(walk: Walk, head: _Head) -> None:
    if head.seq != walk.seq:
        walk.found(None, "head", f"the head stands at {head.seq}, the last entry is {walk.seq}")
    elif bytes(head.hash) != walk.hash:
        walk.found(head.seq, "head", "the head's hash is not that of the last entry")
    if walk.seq and head.at_us != walk.at_us:
        walk.found(None, "head", "the head's time is not that of the last entry")
    if not walk.erased and walk.whole and head.total_bytes != walk.body_bytes:
        walk.found(None, "head", f"it counts {head.total_bytes} bytes, the entries have {walk.body_bytes}")


def _check_control(walk: Walk, head: _Head) -> None:
    if head.reducer_version != REDUCER_VERSION:
        return  # an older one is rebuilt before it is used, a newer one is not ours to judge
    proven = walk.control
    _compare(walk, ThreadControl, bytes(head.control), proven)
    active = None if proven.active is None else proven.active.turn_id
    beside = {"epoch": proven.epoch, "queued": proven.queued, "active_turn": active}
    for name, value in beside.items():
        if getattr(head, name) != value:
            walk.found(None, "head", f"its {name} is {getattr(head, name)}, by the entries {value}")
    runnable = not walk.key.is_session_log and has_work(proven, Facts(walk.at_us, front=walk.front))
    if bool(head.runnable) != runnable:
        walk.found(None, "head", f"it says it {'has' if head.runnable else 'has no'} work; by the entries it is not so")


def _compare(walk: Walk, kind: type[Frozen], stored: bytes, proven: Frozen) -> None:
    """Say in which fields a stored control differs."""
    if stored == dump(proven):
        return
    try:
        read = kind.model_validate_json(stored)
    except ValueError:
        walk.found(None, "control", f"the stored {kind.__name__} cannot be read")
        return
    wrong = [name for name in kind.model_fields if getattr(read, name) != getattr(proven, name)]
    walk.found(None, "control", f"the stored {kind.__name__} differs from the entries in {', '.join(wrong) or 'form'}")


def _check_turns(walk: Walk, thread_id: int, head: _Head) -> Script[None]:
    found = yield from rows("turn_rows", thread_id)
    left = dict(walk.turns)
    for turn_id, body, session_id, tenant, *beside in found:
        proven = left.pop(turn_id, None)
        if proven is None:
            walk.found(None, "turns", f"turn {turn_id} has a row and no entries")
        elif bytes(body) != dump(proven) or (session_id, tenant, *beside) != _turn_columns(walk, proven, head):
            walk.found(proven.queued_seq, "turns", f"the row of turn {turn_id} differs from its entries")
    for turn_id, status in left.items():
        walk.found(status.queued_seq, "turns", f"turn {turn_id} has no row")


def _turn_columns(walk: Walk, status: TurnStatus, head: _Head) -> tuple[object, ...]:
    return (
        head.session_id, walk.key.tenant, status.queue_order, status.phase, status.pause, status.queued_seq,
        status.session_seq, status.queued_at_us,
    )  # fmt: skip


def _check_questions(walk: Walk, thread_id: int, head: _Head) -> Script[None]:
    found = yield from rows("interaction_rows", thread_id)
    left = dict(walk.interactions)
    for session_id, tenant, *columns in found:
        stored = Interaction(*columns)
        proven = left.pop(stored.interaction_id, None)
        if proven is None:
            walk.found(None, "question", f"question {stored.interaction_id} has a row and no entries")
        elif stored != proven or (session_id, tenant) != (head.session_id, walk.key.tenant):
            walk.found(proven.asked_seq, "question", f"the row of question {stored.interaction_id} differs")
    for interaction_id, question in left.items():
        walk.found(question.asked_seq, "question", f"question {interaction_id} has no row")


def _check_spent(walk: Walk, thread_id: int, session: Row | None) -> Script[None]:
    """A thread is counted while its session has a budget; one that used nothing needs no row."""
    if session is None or session[2] != REDUCER_VERSION:
        return
    try:
        budget = SessionControl.model_validate_json(bytes(session[1])).budget
    except ValueError:
        return  # the session's own proof says so
    row = yield from first("find_spent", thread_id)
    if row is None and (budget is None or committed(walk.control) == Used()):
        return
    if row is None or budget is None or tuple(row[:7]) != spent_columns(0, 0, walk.control)[2:9]:
        walk.found(None, "spent", "what it takes of its session's budget is not what its entries say")


def _check_deadline(walk: Walk, thread_id: int) -> Script[None]:
    row = yield from first("find_deadline", thread_id)
    stored = None if row is None else row[0]
    if stored == earliest_us(walk.control) or asks_for_budget(walk.control):
        return
    spent = yield from first("find_spent", thread_id)
    if spent is None or not spent[-1]:  # who waits for what others reserved may have been given some of it
        walk.found(None, "deadline", "its next deadline is not that of its open questions")


def _check_bases(walk: Walk, thread_id: int) -> Script[None]:
    """Where its state begins elsewhere, that is kept, and the entry there is the one that was meant.

    One that was made whole needs no origin any more, and may have none.
    """
    stored = {seq: tuple(row) for seq, *row in (yield from rows("base_rows", thread_id))}
    for seq, payload in walk.bases.items():
        forked = isinstance(payload, ThreadForked)
        origin = payload.origin_of(walk.key) if isinstance(payload, ThreadForked) else walk.key
        meant = payload.origin_hash if isinstance(payload, ThreadForked) else payload.to_hash
        place, at_seq = (yield from place_of(origin)), begins_at(payload)
        found = None if place is None else (yield from hash_at(place, at_seq))
        held = walk.made_whole[0] if forked and walk.made_whole is not None else None
        if held is None and (found is None or found.hex() != meant):
            walk.found(seq, "base", f"entry {at_seq} of thread {origin.thread}, where it begins, is another one")
        if stored.pop(seq, None) not in ((origin.canonical, at_seq, held), *(((None, at_seq, held),) if held else ())):
            walk.found(
                seq, "base", "where its state begins is not kept beside it; `turnwright journal rebuild` does it"
            )
    for seq in stored:
        walk.found(seq, "base", "it is kept as one whose state begins elsewhere, and by the entries it is not")
    if not walk.based:
        walk.found(None, "base", "the state that it begins with cannot be read")


def _check_checkpoints(walk: Walk, checkpoints: Sequence[Row]) -> None:
    for seq, body in checkpoints if walk.based else ():
        proven = walk.states.get(seq)
        if proven is None:
            walk.found(seq, "checkpoint", "a checkpoint is of an entry that is not there")
        elif bytes(body) != dump(proven):
            walk.found(seq, "checkpoint", "a checkpoint differs from the fold of the entries; rebuild it")


def _check_media(walk: Walk, session_id: int) -> Script[None]:
    for sha in sorted(walk.media):
        row = yield from first("find_blob", session_id, sha)
        if row is None:
            walk.found(None, "blob", f"blob {sha} of a message is missing")


def _check_requests(walk: Walk, thread_id: int) -> Script[None]:
    """Each remembered request has a receipt that fits, and each one that left an entry under its id is remembered."""
    after, remembered = "", set[str]()
    while True:
        page = yield from rows("request_rows", thread_id, after, REQUESTS_PAGE_MAX)
        for request_id, kind, receipt in page:
            remembered.add(request_id)
            _check_request(walk, request_id, kind, bytes(receipt))
        if len(page) < REQUESTS_PAGE_MAX:
            break
        after = page[-1][0]
    for request_id in sorted(walk.requests - remembered):
        walk.found(None, "request", f"request {request_id!r} left its entries and is not remembered")


def _check_request(walk: Walk, request_id: str, kind: str, body: bytes) -> None:
    try:
        Receipt(**json.loads(body))  # no other fields
        receipt = _RECEIPT.validate_json(body, strict=True)
    except (ValueError, TypeError):
        walk.found(None, "request", f"the receipt of request {request_id!r} cannot be read")
        return
    if receipt.request_id != request_id or receipt.seq > walk.seq:
        walk.found(None, "request", f"the receipt of request {request_id!r} does not fit the thread")
    # The tick of a schedule that gave no turn says why not.
    if kind == SUBMIT and receipt.code is None and walk.whole and receipt.turn_id not in walk.turns:
        walk.found(None, "request", f"request {request_id!r} queued turn {receipt.turn_id}, which has no entries")


def _check_texts(walk: Walk, thread_id: int) -> Script[None]:
    """Of what was indexed every text has a row and nothing else has one; the rest may have one or not."""
    row = yield from first("find_searched", thread_id)
    searched: int = 0 if row is None else row[0]
    found = yield from rows("text_rows", thread_id, searched)
    stored, said = {seq for (seq,) in found}, {seq for seq in walk.said if seq <= searched}
    for seq in sorted(stored - said):
        walk.found(seq, "search", "its words are kept for the search, and it has none")
    if walk.whole or walk.erased:
        for seq in sorted(said - stored):
            walk.found(
                seq, "search", "its words are not kept for the search; `turnwright journal reindex --all` does it"
            )


def _check_session(where: str, walk: Walk, control: bytes, beside: tuple[int, int]) -> list[Finding]:
    proven = walk.session
    inner = Walk(walk.key)
    _compare(inner, SessionControl, control, proven)
    found = [Finding(where, None, "session", finding.problem) for finding in inner.findings]
    if beside != (int(proven.pause.on), proven.cancelled_seq):
        found.append(Finding(where, None, "session", "its flags differ from the entries of its log"))
    return found


def _check_positions(where: str, session_id: int) -> Script[list[Finding]]:
    row = yield from first("positions_of_session", session_id)
    assert row is not None
    counter, count, least, greatest = row
    if (counter, least, greatest) in ((count, 1, count), (0, None, None)):
        return []
    problem = f"its counter is at {counter}; it has {count} entries at positions {least} to {greatest}"
    return [Finding(where, None, "position", problem)]
