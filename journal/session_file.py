"""A session as lines of JSON: what `export` writes and `import` reads.

Rule: one object a line, each with its `kind`, in this order: `header`; for each thread `thread`, and behind one with
erased content the `turn` and `question` rows that its entries do not prove any more; `blob`; `request`; `entry` by
position; `end`, with the SHA-256 of all lines before it. No line but the header names the session, so that it can be
put under another key: hash chains do not cover keys. What they cover is here byte for byte, in its canonical form.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import IO, Any

from turnwright.journal.canonical import encode
from turnwright.journal.errors import InvalidInput

FORMAT = "turnwright session"
FORMAT_VERSION = 1
# What the largest document that can be brought has in base64. A line is held in memory, more than once.
LINE_BYTES_MAX = 384 * 1024 * 1024
HEADER, THREAD, TURN, QUESTION, BLOB, REQUEST, ENTRY, END = (
    "header", "thread", "turn", "question", "blob", "request", "entry", "end",
)  # fmt: skip
COUNTED = {THREAD: "threads", ENTRY: "entries", REQUEST: "requests", BLOB: "blobs"}
_KNOWN_BEFORE = frozenset({"threads", "entries"})
Line = dict[str, Any]


class NotWhole(InvalidInput):
    """A file that is no exported session, or not all of one; says what is missing."""


class Changed(NotWhole):
    """A file whose lines are not those that were written."""


@dataclass
class Seal:
    """What a file holds up to here: its digest, and how many lines of each kind."""

    lines: int = 0
    counts: dict[str, int] = field(default_factory=lambda: dict.fromkeys(COUNTED.values(), 0))
    _hash: Any = field(default_factory=hashlib.sha256)

    @property
    def digest(self) -> str:
        """The SHA-256 of all lines, in hexadecimal."""
        return str(self._hash.hexdigest())

    def add(self, kind: str, written: bytes) -> None:
        """One more line, with its line feed."""
        self.lines += 1
        self._hash.update(written)
        if kind in COUNTED:
            self.counts[COUNTED[kind]] += 1

    def end(self) -> bytes:
        """The last line."""
        return written({"kind": END, "lines": self.lines, "sha256": self.digest} | self.counts)


def written(line: Mapping[str, Any]) -> bytes:
    """A line as it stands in the file."""
    return encode(line) + b"\n"


def body_field(body: bytes) -> Line:
    """A stored body in its line: as JSON where that gives its bytes again, else as text."""
    try:
        parsed = json.loads(body)
        if encode(parsed) == body:
            return {"body": parsed}
    except (ValueError, RecursionError):
        pass
    return {"body_hex": body.hex()}


def stored_body(line: Line) -> bytes | None:
    """The stored bytes of an entry's line; None: they stand in a blob, or were erased."""
    if "body" in line:
        return encode(line["body"])
    return bytes.fromhex(line["body_hex"]) if "body_hex" in line else None


def lines_of(source: IO[bytes], seal: Seal) -> Iterator[Line]:
    """The lines of a file but for the last, which is compared with what was read.

    Raises:
        NotWhole: it ends before its end, is something else, or holds other lines than were written.
    """
    header: Line | None = None
    while True:
        raw = source.readline(LINE_BYTES_MAX)
        line = _parsed(raw, seal.lines + 1) if raw.endswith(b"\n") else None
        if line is None:
            raise NotWhole(_too_long(seal) if len(raw) == LINE_BYTES_MAX else _cut(header, seal, torn=bool(raw)))
        if header is None:
            header = _header(line)
        if line["kind"] == END:
            _compare(header, line, seal)
            if source.read(1):
                raise NotWhole(f"something follows the last line of the file, line {seal.lines + 1}; export it again")
            return
        seal.add(line["kind"], raw)
        yield line


def _parsed(raw: bytes, number: int) -> Line:
    try:
        line = json.loads(raw)
    except (ValueError, RecursionError):
        line = None
    if not isinstance(line, dict) or not isinstance(line.get("kind"), str):
        raise NotWhole(f"line {number} is no line of an exported session; give a file that `turnwright export` wrote")
    return line


def _header(line: Line) -> Line:
    if line["kind"] != HEADER or line.get("format") != FORMAT:
        raise NotWhole("it is no exported session; give a file that `turnwright export` wrote")
    version = line.get("format_version")
    if version != FORMAT_VERSION:
        raise NotWhole(f"it is of format {version}, this version reads format {FORMAT_VERSION}; upgrade it")
    return line


def _too_long(seal: Seal) -> str:
    return f"line {seal.lines + 1} has more than {LINE_BYTES_MAX:,} bytes, which is more than an import reads at once"


def _cut(header: Line | None, seal: Seal, *, torn: bool) -> str:
    if header is None:
        return "it is empty, or its first line was cut off; export it again"
    wanted = header.get("counts")
    there = [
        f"{seal.counts.get(name, 0)} of its {count} {name}"
        for name, count in (wanted.items() if isinstance(wanted, dict) else ())
        if isinstance(count, int) and count > seal.counts.get(name, 0)
    ]
    where = f"in the middle of line {seal.lines + 1}" if torn else f"after line {seal.lines}"
    only = f"only {', '.join(there)} are there, and " if there else ""
    return f"the file ends {where}: {only}its last line is missing; nothing was imported, copy it again"


def _compare(header: Line, end: Line, seal: Seal) -> None:
    if end.get("lines") != seal.lines:
        raise NotWhole(f"{end.get('lines')} lines were written, {seal.lines} are there; copy the file again")
    if end.get("sha256") != seal.digest:
        raise Changed("its lines are not those that were written: the digest in its last line is another one")
    for line, named in ((header.get("counts"), "first"), (end, "last")):
        for name, count in seal.counts.items():
            told = line.get(name) if isinstance(line, dict) else None
            # The first was written before requests and blobs that came meanwhile.
            if told != count and (named == "last" or name in _KNOWN_BEFORE):
                raise Changed(f"its {named} line counts {told!r:.20} {name}, and {count} are there; export it again")
