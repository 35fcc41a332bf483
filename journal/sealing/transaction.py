"""A script between which and its store everything that is kept is sealed, and opened.

Rule: which data key is a session's is asked of the store, or read off what it sealed, anew in each transaction. It is
made in the transaction that makes the session or, if that is older than the keys, in the first that writes to it. One
that is gone was destroyed with its session: what it sealed is erased.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from functools import partial
from typing import Any, TypeVar

from cryptography.hazmat.primitives.ciphers.aead import AESGCM

from turnwright.journal.codec import body_digest
from turnwright.journal.errors import UNREADABLE, InvalidInput, KeyMissing, StoreCorrupt
from turnwright.journal.keyring import SALT_BYTES, Altered, opened_with
from turnwright.journal.script import Append, Batch, Command, Query, Row, Script, first
from turnwright.journal.sealing.columns import BLOB, BODY, CONTROL, PAYLOADS, READS, WRITES, Body, Owner, Read, Write
from turnwright.journal.sealing.sealer import NO_KEYS, DataKey, Sealer
from turnwright.journal.sealing.values import DATA, KEY_ID_BYTES, PLAIN, Unopened, escaped, is_marked, marked

T = TypeVar("T")
_SEARCH, _TEXTS = "search_texts", "insert_text"
_SESSION, _THREAD, _DESTROY = "insert_session", "insert_thread", "delete_data_key"
_SESSION_CONTROL, _WORDS = 4, 5
NOT_SEARCHABLE = (
    "this journal is sealed, so no words of it are kept for a search; look at the lists of sessions, threads and turns"
)


def sealed_script(script: Script[T], sealer: Sealer) -> Script[T]:
    """The script, with what it writes sealed and what it reads opened.

    Raises:
        KeyMissing: something that it reads was sealed with a key that is not among ours.
        StoreCorrupt: it is not as it was sealed.
    """
    transaction = _Transaction(sealer)
    go_on: Callable[[], Command] = partial(script.send, None)
    try:
        while True:
            try:
                command = go_on()
            except StopIteration as end:
                result: T = end.value
                return result
            try:
                answer = yield from transaction.perform(command)
            except UNREADABLE as error:  # the store did what it was asked; the script may know what to do
                go_on = partial(script.throw, error)
            else:
                go_on = partial(script.send, answer)
    finally:
        script.close()


class _Transaction:
    def __init__(self, sealer: Sealer) -> None:
        self._sealer = sealer
        self._ciphers: dict[bytes, AESGCM] = {}
        self._key_of: dict[int, bytes] = {}
        self._session_of: dict[int, int] = {}
        self._blobs: dict[str, bytes] = {}

    def perform(self, command: Command) -> Script[Any]:
        """Run the command; the answer is that of the store, opened."""
        match command:
            case Query(name, params):
                return (yield from self._query(name, params))
            case Batch(name, many):
                yield Batch(name, tuple((yield from _each(many, partial(self._written, name)))))
            case Append():
                return (yield (yield from self._appended(command)))
            case _:
                return (yield command)

    def _query(self, name: str, params: tuple[Any, ...]) -> Script[list[Row]]:
        if name == _SEARCH and self._sealer.seals:
            raise InvalidInput(NOT_SEARCHABLE)
        if name == _SESSION and self._sealer.seals:
            return (yield from self._new_session(params))
        answer: list[Row] = yield Query(name, (yield from self._written(name, params)))
        if name == _THREAD and answer:
            self._session_of[answer[0][0]] = params[WRITES[_THREAD].owner]
        if name == _DESTROY:
            for row in answer:
                self._sealer.forget(bytes(row[0]))
        read = READS.get(name)
        if read is None or not any(is_marked(row[place]) for row in answer for place in read.places):
            return answer
        return (yield from _each(answer, partial(self._opened, read)))

    def _new_session(self, params: tuple[Any, ...]) -> Script[list[Row]]:
        key = self._sealer.make()
        control = self._sealer.seal(self._sealer.learn(key), key.key_id, CONTROL, params[_SESSION_CONTROL])
        answer: list[Row] = yield Query(
            _SESSION, (*params[:_SESSION_CONTROL], control, *params[_SESSION_CONTROL + 1 :])
        )
        if answer:
            yield from self._keep(answer[0][0], key, whole=True)
        return answer

    # -- what is written ---------------------------------------------------------------------------

    def _written(self, name: str, params: tuple[Any, ...]) -> Script[tuple[Any, ...]]:
        if name == _TEXTS and self._sealer.seals:
            return (*params[:_WORDS], "", *params[_WORDS + 1 :])
        if name in PAYLOADS and self._sealer.seals:
            salt, body, blob = PAYLOADS[name]
            session_id = yield from self._session(params[0])
            content = yield from self._content(session_id, params[salt], params[body], params[blob])
            return (*params[:salt], *content, *params[blob + 1 :])
        write = WRITES.get(name)
        if write is None:
            return params
        if name == "insert_blob":
            self._blobs[params[1]] = params[3]
        sealed = list(params)
        for place, label in write.labels.items():
            sealed[place] = yield from self._value(write, params, label, params[place])
        return tuple(sealed)

    def _value(self, write: Write, params: tuple[Any, ...], label: str, value: Any) -> Script[Any]:  # noqa: ANN401 - text or bytes
        if not self._sealer.seals:
            self._check_unsealed(write, params[write.owner])
            return escaped(value)
        if write.of == "nobody":
            return self._sealer.enlisted(value)
        owner = params[write.owner]
        session_id = owner if write.of == "session" else (yield from self._session(owner))
        return (yield from self._seal(session_id, label, value))

    def _check_unsealed(self, write: Write, owner: int) -> None:
        """Without keys nothing is written to a session of which something sealed was read: it would stay as it is."""
        session_id = owner if write.of == "session" else self._session_of.get(owner)
        if write.of != "nobody" and session_id in self._key_of:
            raise KeyMissing(NO_KEYS)

    def _appended(self, new: Append) -> Script[Append]:
        if not self._sealer.seals:
            return new
        control = yield from self._seal(new.session_id, CONTROL, new.head.control)
        entries = []
        for row in new.entries:
            salt, body, blob = yield from self._content(new.session_id, row.salt, row.body, row.blob)
            entries.append(row._replace(salt=salt, body=body, blob=blob))
        texts = tuple(text._replace(words="") for text in new.texts)
        return replace(new, head=new.head._replace(control=control), entries=tuple(entries), texts=texts)

    def _content(
        self, session_id: int, salt: bytes, body: bytes | None, blob: str | None
    ) -> Script[tuple[bytes, bytes | None, str | None]]:
        """Salt, body and blob as they are stored."""
        if not self._sealer.seals or (body is None and blob is None):
            return salt, body, blob
        whole = body if body is not None else (yield from self._blob(session_id, blob or ""))
        sealed = yield from self._seal(session_id, BODY, bytes(salt) + (body or b""))
        return body_digest(bytes(salt), bytes(whole)), sealed, blob

    def _blob(self, session_id: int, sha256: str) -> Script[bytes]:
        """The bytes of a blob that an entry about to be written is kept in."""
        if sha256 not in self._blobs:
            found = yield from self._query("find_blob", (session_id, sha256))
            if not found:
                raise StoreCorrupt(f"blob {sha256} of session {session_id} is missing")
            return bytes(found[0][0])
        return self._blobs[sha256]

    def _seal(self, session_id: int, label: str, value: Any) -> Script[Any]:  # noqa: ANN401 - text or bytes
        key_id = yield from self._key(session_id)
        cipher = yield from self._cipher(key_id)
        if cipher is None:
            raise StoreCorrupt(f"the data key {key_id.hex()} of session {session_id} is missing")
        return self._sealer.seal(cipher, key_id, label, value)

    # -- what is read ------------------------------------------------------------------------------

    def _opened(self, read: Read, row: Row) -> Script[Row]:
        for owner in read.owners:
            self._learn(owner, row)
        opened = list(row)
        for place, label in read.labels.items():
            opened[place] = yield from self._open_in(read, row[place], label)
        if read.body is not None:
            yield from self._open_body(read, read.body, opened)
        return tuple(opened)

    def _open_in(self, read: Read, value: Any, label: str) -> Script[Any]:  # noqa: ANN401 - text or bytes
        try:
            return (yield from self._open(value, label))
        except UNREADABLE as error:
            if not read.singly:
                raise
            return Unopened.because(value, error)

    def _learn(self, owner: Owner, row: Row) -> None:
        if owner.thread is not None:
            self._session_of[row[owner.thread]] = row[owner.session]
        found = marked(row[owner.control])
        if found is not None and found[:1] == DATA:
            self._key_of[row[owner.session]] = found[1 : 1 + KEY_ID_BYTES]

    def _open(self, value: Any, label: str) -> Script[Any]:  # noqa: ANN401 - text or bytes
        """The value as it was written; as it is stored if its data key was destroyed."""
        if not is_marked(value):
            return value
        try:
            found = marked(value) or b""
            kind, rest = found[:1], found[1:]
            if kind == DATA:
                cipher = yield from self._cipher(rest[:KEY_ID_BYTES])
                if cipher is None:
                    return value
                plain = opened_with(cipher, rest[KEY_ID_BYTES:], label.encode())
            elif kind == PLAIN:
                plain = rest
            elif isinstance(value, bytes):
                plain = self._sealer.from_enlisted(value)
            else:
                raise Altered(kind)
            return plain.decode() if isinstance(value, str) else plain
        except (Altered, UnicodeDecodeError):
            raise StoreCorrupt(f"a sealed {label} is not as it was sealed") from None

    def _open_body(self, read: Read, at: Body, opened: list[Any]) -> Script[None]:
        stored = opened[at.body]
        if at.blob_body is not None:
            opened[at.blob_body] = yield from self._open_in(read, opened[at.blob_body], BLOB)
        if not is_marked(stored):
            return
        whole = yield from self._open_in(read, stored, BODY)
        if isinstance(whole, Unopened):
            opened[at.body] = whole
            return
        destroyed = whole is stored
        cut_off = at.blob_body is not None and isinstance(opened[at.blob_body], Unopened)
        if at.salt is not None and not (destroyed or cut_off):
            opened[at.salt] = whole[:SALT_BYTES]
        opened[at.body] = None if destroyed else whole[SALT_BYTES:] or None
        for place in (at.blob, at.blob_body) if destroyed else ():
            if place is not None:
                opened[place] = None

    # -- data keys ---------------------------------------------------------------------------------

    def _session(self, thread_id: int) -> Script[int]:
        if thread_id not in self._session_of:
            row = yield from first("session_of_thread", thread_id)
            if row is None:
                raise StoreCorrupt(f"thread {thread_id} is missing")
            self._session_of[thread_id] = row[0]
        return self._session_of[thread_id]

    def _key(self, session_id: int) -> Script[bytes]:
        """The id of a session's data key; it is made if there is none yet."""
        if session_id not in self._key_of:
            row = yield from first("data_key_of_session", session_id)
            if row is None:
                made = self._sealer.make()
                if (yield from self._keep(session_id, made, whole=False)):
                    return made.key_id
                row = yield from first("data_key_of_session", session_id)
                assert row is not None, "somebody made it at the same time"
            self._key_of[session_id] = bytes(row[0])
        return self._key_of[session_id]

    def _keep(self, session_id: int, key: DataKey, *, whole: bool) -> Script[bool]:
        """Whether it is the session's data key now; not if there is one already."""
        columns = (session_id, key.key_id, key.wrapped, key.wrapped_by, int(whole))
        if (yield from first("insert_data_key", *columns)) is None:
            return False
        self._key_of[session_id] = key.key_id
        return True

    def _cipher(self, key_id: bytes) -> Script[AESGCM | None]:
        """What a data key seals and opens with; None: it was destroyed."""
        cipher = self._ciphers.get(key_id) or self._sealer.find(key_id)
        if cipher is None:
            row = yield from first("find_data_key", key_id)
            cipher = None if row is None else self._sealer.learn(DataKey(key_id, bytes(row[0]), row[1]))
        if cipher is not None:
            self._ciphers[key_id] = cipher
        return cipher


def _each(many: Iterable[Row], of: Callable[[Row], Script[Row]]) -> Script[list[Row]]:
    done: list[Row] = []
    for row in many:
        one = yield from of(row)
        done.append(one)
    return done
