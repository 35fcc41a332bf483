"""Small scripts that the conformance tests run on every store."""

from typing import NamedTuple

from turnwright.journal.script import Append, EntryRow, Head, Note, Script, Touch, append, first, rows


class Place(NamedTuple):
    session_id: int
    thread_id: int


def open_thread(name: str = "main") -> Script[Place]:
    """A session with one thread in it, empty."""
    made = yield from first("insert_session", f'["t",null,"{name}"]', "t", None, name, b"{}", 1, 0)
    assert made is not None, "that session exists"
    session_id = int(made[0])
    yield from rows("insert_counter", session_id)
    key = f'["t",null,"a","{name}","main"]'
    made = yield from first("insert_thread", key, session_id, "t", "a", "main", b"", 0, b"{}", 1)
    assert made is not None
    return Place(session_id, int(made[0]))


def entry(seq: int, text: str = "x", size: int = 100) -> EntryRow:
    body = text.encode().ljust(size, b".")
    return EntryRow(seq, f"e{seq}", "app/test", 1, 0, None, None, None, None, 1, b"p", b"h", b"s", body, None)


def head(seq: int, added_bytes: int = 0) -> Head:
    return Head(seq, b"h", 0, 0, b"{}", 1, added_bytes, 0, None, 0)


def append_at(place: Place, expected_seq: int, count: int = 4, size: int = 100) -> Script[int | None]:
    """Append entries after that seq; None when the thread stands elsewhere."""
    entries = tuple(entry(expected_seq + n, size=size) for n in range(1, count + 1))
    command = Append(place.session_id, place.thread_id, expected_seq, head(expected_seq + count, count * size), entries)
    return (yield from append(command))


def touch(*keys: str) -> Script[None]:
    yield Touch(frozenset(keys))


def note(what: object) -> Script[None]:
    yield Note(what)


def remember(name: str) -> Script[None]:
    """Write one row that `remembers` finds."""
    yield from rows("insert_session", name, "t", None, name, b"{}", 1, 0)


def remembers(*names: str) -> Script[list[bool]]:
    found = []
    for name in names:
        row = yield from first("find_session", name)
        found.append(row is not None)
    return found
