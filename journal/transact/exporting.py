"""What an exported session consists of, read in pieces.

Rule: what belongs to it is decided on one snapshot (`find_outline`): the threads there are, how far each has come, and
of those with erased content what their entries do not prove any more. The pieces read later stop there, so threads go
on meanwhile. What is taken away meanwhile, by an erasure or a deletion, ends the export.
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass

from turnwright.journal.errors import CommandRejected, StoreCorrupt
from turnwright.journal.ids import SessionKey, ThreadKey
from turnwright.journal.interactions import Interaction
from turnwright.journal.script import Row, Script, first, rows
from turnwright.journal.sealing.values import check_opened
from turnwright.journal.session_file import ENTRY, QUESTION, REQUEST, THREAD, TURN, Line, body_field
from turnwright.journal.transact.enlisting import key_spelled

THREADS_PAGE_MAX = 500
THREADS_WAITING_MAX = 500
REQUESTS_PAGE_MAX = 500
PAGE_ENTRIES_MAX = 500
PAGE_BYTES_MAX = 8 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class Outlined:
    """A thread as it is exported: up to `seq`. `kept`: the lines of what its entries do not prove."""

    id: int
    line: Line
    seq: int
    kept: tuple[Line, ...] = ()


@dataclass(frozen=True, slots=True)
class Outline:
    """A session as it is exported: up to `position`. `waiting`: threads that something in the inbox is for."""

    session_id: int
    position: int
    blobs: int
    requests: int
    threads: tuple[Outlined, ...]
    waiting: tuple[ThreadKey, ...] = ()

    @property
    def numbers(self) -> dict[int, int]:
        """The number of each thread in the file, by its id."""
        return {thread.id: number for number, thread in enumerate(self.threads)}


def find_outline(key: SessionKey) -> Script[Outline | None]:
    """What there is to export; None: there is no such session, or it was deleted."""
    session = yield from first("find_session", key.canonical)
    if session is None or session[3] is not None:
        return None
    session_id, threads, after = int(session[0]), list[Outlined](), 0
    needy = yield from first("forks_from_elsewhere", session_id)
    if needy is not None:
        of = ThreadKey.parse(needy[0])
        raise CommandRejected(
            "not_whole", f"thread {of.agent}/{of.thread} begins with entries of another session; make it whole first"
        )
    while True:
        page = yield from rows("exported_threads", session_id, after, THREADS_PAGE_MAX)
        for row in page:
            threads.append((yield from _outlined(row, session, len(threads))))
        if len(page) < THREADS_PAGE_MAX:
            break
        after = page[-1][0]
    counter = yield from first("positions_of_session", session_id)
    counts = yield from first("count_exported", session_id)
    assert counter is not None
    assert counts is not None
    waiting = yield from rows("enlisted_of_session", key.canonical, THREADS_WAITING_MAX)
    named = tuple(known for (spelled,) in waiting if (known := key_spelled(spelled)) is not None)
    return Outline(session_id, counter[0], counts[0], counts[1], tuple(threads), named)


def _outlined(row: Row, session: Row, number: int) -> Script[Outlined]:
    thread_id, canonical, seq, hash_, control, version, erased = row
    of = ThreadKey.parse(canonical)
    line: Line = {
        "kind": THREAD, "agent": of.agent, "thread": of.thread, "entries": seq, "hash": bytes(hash_).hex(),
    }  # fmt: skip
    if not erased:
        return Outlined(thread_id, line, seq)
    line["kept"] = {"reducer_version": version, "control": _json(control)}
    if of.is_session_log:
        line["kept"]["session"] = _json(session[1])
    turns = yield from rows("turn_rows", thread_id)
    questions = yield from rows("interaction_rows", thread_id)
    kept = [{"kind": TURN, "of": number, "status": _json(turn[1])} for turn in turns]
    kept += [{"kind": QUESTION, "of": number} | asdict(Interaction(*question[2:])) for question in questions]
    return Outlined(thread_id, line, seq, tuple(kept))


def next_blob(outline: Outline, after: str) -> Script[Row | None]:
    """SHA-256 and bytes of the session's next blob."""
    return (yield from first("next_blob", outline.session_id, after))


def request_lines(thread: Outlined, number: int, after: str) -> Script[tuple[list[Line], str | None]]:
    """A page of what a thread remembers of requests, and behind which the next begins (None: that was all)."""
    found = yield from rows("exported_requests", thread.id, after, REQUESTS_PAGE_MAX)
    lines = [
        {"kind": REQUEST, "of": number, "request_id": name, "command": kind, "digest": digest, "receipt": receipt}
        for name, kind, digest, body in found
        if (receipt := _json(body))["seq"] <= thread.seq  # later ones are of entries that are not in the file
    ]
    return lines, found[-1][0] if len(found) == REQUESTS_PAGE_MAX else None


def entry_lines(key: SessionKey, outline: Outline, after: int) -> Script[list[Line]]:
    """A page of entries behind a position.

    Raises:
        CommandRejected: the session was deleted meanwhile.
        StoreCorrupt: one is missing.
    """
    session = yield from first("find_session", key.canonical)
    if session is None or session[3] is not None:
        raise CommandRejected("session_deleted", "the session was deleted while it was exported; the file is not whole")
    bounds = (outline.session_id, after, PAGE_ENTRIES_MAX, PAGE_BYTES_MAX)
    row = yield from first("session_page_end", *bounds)
    end = min(outline.position, after if row is None or row[0] is None else int(row[0]))
    found = yield from rows("exported_entries", outline.session_id, after, end)
    numbers = outline.numbers
    lines = [_entry_line(row, numbers) for row in found]
    for expected, line in enumerate(lines, start=after + 1):
        if line["position"] != expected:
            raise StoreCorrupt(f"position {expected} of session {key.canonical} is missing")
    if not lines:
        raise StoreCorrupt(f"position {after + 1} of session {key.canonical} is missing")
    return lines


_ENVELOPE = ("entry_id", "type", "version", "position", "at_us", "turn_id", "run", "step", "epoch")


def _entry_line(row: Row, numbers: dict[int, int]) -> Line:
    thread_id, seq, *envelope, required, hash_, salt, body, blob = row
    line: Line = {"kind": ENTRY, "of": numbers[thread_id], "seq": seq}
    line |= {name: value for name, value in zip(_ENVELOPE, envelope, strict=True) if value is not None}
    line |= {"required": bool(required), "hash": bytes(hash_).hex(), "salt": bytes(salt).hex()}
    if blob is not None:
        return line | {"blob": blob}
    return line | ({"erased": True} if body is None else body_field(bytes(body)))


def _json(stored: bytes) -> Line:
    check_opened(stored)
    read: Line = json.loads(bytes(stored))
    return read
