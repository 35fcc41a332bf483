"""Lines of an exported session as rows of the journal it comes into.

Rule: an entry's line follows those before it of its thread, so the hash it is chained to is not in the file. Nothing is
proven here: whoever wrote the rows proves what they add up to.
"""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Callable, Iterable
from dataclasses import fields
from functools import partial
from typing import TypeVar

from turnwright.journal.canonical import encode, repair_text
from turnwright.journal.codec import GENESIS
from turnwright.journal.control import SessionControl, ThreadControl
from turnwright.journal.errors import InvalidInput
from turnwright.journal.ids import SessionKey, ThreadKey
from turnwright.journal.interactions import Interaction
from turnwright.journal.script import Row
from turnwright.journal.session_file import BLOB, ENTRY, QUESTION, REQUEST, THREAD, TURN, Line, stored_body
from turnwright.journal.transact.importing import Declared, Kept, Piece
from turnwright.journal.transact.rows import read_control
from turnwright.journal.turn_status import TurnStatus

T = TypeVar("T")
_QUESTION_FIELDS = tuple(f.name for f in fields(Interaction))
_SMALL_BITS, _LARGE_BITS = 31, 63
"""What the stores' columns of whole numbers hold."""


def key_of(header: Line) -> SessionKey:
    """The session that was exported."""
    of = header["session"]
    return SessionKey(of["tenant"], of["user"], of["session"]).checked()


def thread_key(key: SessionKey, line: Line) -> ThreadKey:
    """A thread's key under the session's."""
    of = ThreadKey(key.tenant, key.user, _text(line["agent"]), key.session, _text(line["thread"]))
    return of if of.is_session_log else of.checked()


def declared_of(key: SessionKey, line: Line, kept: Iterable[Line]) -> Declared:
    """What a thread's line says of it, with the lines behind it."""
    of = thread_key(key, line)
    return Declared(
        of,
        _number(line["entries"]),
        bytes.fromhex(line["hash"]),
        _kept(of, line["kept"], kept) if "kept" in line else None,
    )


def _kept(key: ThreadKey, held: Line, lines: Iterable[Line]) -> Kept:
    version, lines = held["reducer_version"], list(lines)
    session = read_control(SessionControl, encode(held["session"]), version, key) if "session" in held else None
    turns = (TurnStatus.model_validate_json(encode(line["status"])) for line in lines if line["kind"] == TURN)
    questions = (Interaction(*(line[name] for name in _QUESTION_FIELDS)) for line in lines if line["kind"] == QUESTION)
    control = read_control(ThreadControl, encode(held["control"]), version, key)
    return Kept(control, session, tuple(turns), tuple(questions))


def _text(value: object) -> str:
    if not isinstance(value, str) or repair_text(value) is not value:
        raise TypeError(f"text is expected where {value!r:.60} stands")
    return value


def _number(value: object, bits: int = _LARGE_BITS) -> int:
    if type(value) is not int or value.bit_length() > bits:
        raise TypeError(f"a number of at most {bits} bits is expected where {value!r:.60} stands")
    return value


def _if_any(read: Callable[[object], T], value: object) -> T | None:
    return None if value is None else read(value)


class Reading:
    """Rows of the lines that were taken since the last piece."""

    def __init__(self, session_id: int, position: int, key: SessionKey, thread_ids: dict[str, int]) -> None:
        self._session_id = session_id
        self._there = position
        self._key = key
        self._ids = thread_ids
        self._threads: list[int] = []
        self._hashes: list[bytes] = []
        self._seqs: list[int] = []
        self._last = self._position = 0
        self._clear()

    def take(self, line: Line) -> None:
        """One more line.

        Raises:
            InvalidInput: it is not what it says it is.
            KeyError, TypeError, ValueError, IndexError: it is no such line.
        """
        match line["kind"]:
            case str(kind) if kind == THREAD:
                self._threads.append(self._ids[thread_key(self._key, line).canonical])
                self._hashes.append(GENESIS)
                self._seqs.append(0)
            case str(kind) if kind == BLOB:
                self._blob(line)
            case str(kind) if kind == REQUEST:
                receipt = encode(line["receipt"])
                named = tuple(_text(line[name]) for name in ("request_id", "command", "digest"))
                self._add(self._requests, (*named, receipt), line)
            case str(kind) if kind == ENTRY:
                self._entry(line)

    def piece(self) -> Piece:
        """What was taken since the last."""
        piece = Piece(
            tuple(self._blobs), tuple(self._requests), tuple(self._entries), tuple(self._payloads), self._position
        )
        self._clear()
        return piece

    def _clear(self) -> None:
        self.size = self.lines = 0
        self._blobs: list[Row] = []
        self._requests: list[Row] = []
        self._entries: list[Row] = []
        self._payloads: list[Row] = []

    def _blob(self, line: Line) -> None:
        body = base64.b64decode(line["bytes"], validate=True)
        if hashlib.sha256(body).hexdigest() != line["sha256"]:
            raise InvalidInput(f"blob {line['sha256']} holds other bytes")
        self._blobs.append((line["sha256"], len(body), body))
        self.size += len(body)

    def _add(self, to: list[Row], row: Row, line: Line) -> None:
        to.append((self._threads[line["of"]], *row))
        self.lines += 1

    def _entry(self, line: Line) -> None:
        of, hash_ = line["of"], bytes.fromhex(line["hash"])
        before, self._hashes[of] = self._hashes[of], hash_
        self._seqs[of] += 1
        self._last += 1
        if (line["seq"], line["position"]) != (self._seqs[of], self._last):
            raise InvalidInput(f"it is no entry {self._seqs[of]} of its thread at position {self._last}, which follows")
        if self._last <= self._there:
            return
        envelope = (
            line["seq"], _text(line["entry_id"]), _text(line["type"]), _number(line["version"], _SMALL_BITS),
            line["position"], _number(line["at_us"]), _if_any(_text, line.get("turn_id")),
            _if_any(_text, line.get("run")), _if_any(partial(_number, bits=_SMALL_BITS), line.get("step")),
            _if_any(_number, line.get("epoch")), int(bool(line["required"])), before, hash_,
        )  # fmt: skip
        body = stored_body(line)
        self._add(self._entries, (self._session_id, *envelope), line)
        content = (line["seq"], bytes.fromhex(line["salt"]), body, _if_any(_text, line.get("blob")))
        self._payloads.append((self._threads[of], *content))
        self._position = line["position"]
        self.size += len(body or b"")
