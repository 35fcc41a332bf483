"""A file of what is as confidential as the journal."""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator
from pathlib import Path

PRIVATE = 0o600


async def write_private(parts: AsyncIterator[bytes], to: Path) -> int:
    """Write beside the file and put it there once all of it came: half of a file is none. Returns its size (bytes).

    Raises:
        OSError: it cannot be written; what was there is there still.
    """
    beside, size = to.with_name(f".{to.name}.{os.getpid()}"), 0
    try:
        with os.fdopen(os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, PRIVATE), "wb") as file:
            async for part in parts:
                size += await asyncio.to_thread(file.write, part)
            file.flush()
            await asyncio.to_thread(os.fsync, file.fileno())
        beside.replace(to)
    finally:
        beside.unlink(missing_ok=True)
    return size
