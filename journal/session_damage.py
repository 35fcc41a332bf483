"""Where a file of a session is not what was written: its digest tells that something is, and not where.

Rule: each line is looked at by itself and by what it is chained to. None found means that whole lines are others, which
nothing in the file tells.
"""

from __future__ import annotations

import base64
import hashlib
import json
from pathlib import Path
from typing import Any

from turnwright.journal.codec import GENESIS, Link, body_digest, chain_hash
from turnwright.journal.session_file import BLOB, ENTRY, LINE_BYTES_MAX, THREAD, Line, stored_body, written


def damaged_line(path: Path) -> int | None:
    """The number of the first line that cannot have been written so."""
    hashes: list[bytes] = []
    with path.open("rb") as source:
        for number, raw in enumerate(iter(lambda: source.readline(LINE_BYTES_MAX), b""), start=1):
            try:
                line = json.loads(raw)
                if written(line) != raw or not _holds(line, hashes):
                    return number
            except (KeyError, TypeError, ValueError, IndexError, AttributeError, RecursionError):
                return number
    return None


def _holds(line: Line, hashes: list[bytes]) -> bool:
    """Whether a line says the truth of its own bytes; `hashes` are those that its thread's next entry follows."""
    kind: Any = line["kind"]
    if kind == THREAD:
        hashes.append(GENESIS)
    if kind == BLOB:
        return bool(hashlib.sha256(base64.b64decode(line["bytes"], validate=True)).hexdigest() == line["sha256"])
    return kind != ENTRY or _follows(line, hashes)


def _follows(line: Line, hashes: list[bytes]) -> bool:
    before, hash_ = hashes[line["of"]], bytes.fromhex(line["hash"])
    hashes[line["of"]] = hash_
    salt, body = bytes.fromhex(line["salt"]), stored_body(line)
    if body is None and not line.get("erased"):
        return True  # it stands in a blob, whose line has its own digest
    link = Link(
        line["seq"], line["type"], line["version"], line["entry_id"], line.get("turn_id"), line.get("run"),
        line.get("step"), line.get("epoch"), bool(line["required"]), salt if body is None else body_digest(salt, body),
    )  # fmt: skip
    return chain_hash(before, link) == hash_
