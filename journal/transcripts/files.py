"""Files of JSON lines that grow at their end, and are replaced as a whole.

Rule: whoever reads sees whole lines, but for the last while it is written. What a crash left at the end is taken off
before anything follows it. A file that is replaced is the old one or the new one, never half of each.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import IO, Any

BLOCK_BYTES = 64 * 1024
BESIDE = ".new"
PRIVATE = 0o600  # as confidential as the journal


def append(path: Path, lines: Iterable[bytes]) -> None:
    """Write behind what is there."""
    with private(path, "ab") as file:
        file.writelines(lines)


def private(path: Path, mode: str) -> IO[bytes]:
    """The file, which nobody else may read if it is made now."""
    return open(path, mode, opener=lambda name, flags: os.open(name, flags, PRIVATE))


def replace(path: Path, lines: Iterable[bytes]) -> None:
    """Put other lines in its place."""
    beside = path.with_name(path.name + BESIDE)
    path.parent.mkdir(parents=True, exist_ok=True)
    with private(beside, "wb") as file:
        file.writelines(lines)
        settle(file)
    beside.replace(path)


def settle(file: IO[bytes]) -> None:
    """See that it is on the disk before it takes another one's place."""
    file.flush()
    os.fsync(file.fileno())


def lines(path: Path, header: bytes) -> Iterator[bytes]:
    """The whole lines behind the header; none if the file is another one's, or is not there."""
    try:
        with path.open("rb") as file:
            if file.readline() != header:
                return
            for line in file:
                if not line.endswith(b"\n"):
                    return
                yield line
    except FileNotFoundError:
        return


def repaired(path: Path, header: bytes) -> dict[str, Any] | None:
    """The last line, after what stands behind it was cut off: an empty one if there is only the header.

    None: the file is not there, or is another one's.
    """
    try:
        file = path.open("r+b")
    except FileNotFoundError:
        return None
    with file:
        if file.readline() != header:
            return None
        end = file.seek(0, os.SEEK_END)
        while end > len(header):
            begin, line = _last(file, end)
            found = parsed(line)
            if found is not None:
                file.truncate(end)
                return found
            end = begin
        file.truncate(len(header))
        return {}


def _last(file: IO[bytes], end: int) -> tuple[int, bytes]:
    """The last line before `end`, and where it begins."""
    found, begin = b"", end
    while begin > 0:
        size = min(BLOCK_BYTES, begin)
        file.seek(begin - size)
        found = file.read(size) + found
        begin -= size
        feed = found.rfind(b"\n", 0, len(found) - 1)
        if feed >= 0:
            return begin + feed + 1, found[feed + 1 :]
    return 0, found


def parsed(line: bytes) -> dict[str, Any] | None:
    """The line, if it is a whole one."""
    try:
        found = json.loads(line) if line.endswith(b"\n") else None
    except ValueError:
        return None
    return found if isinstance(found, dict) else None
