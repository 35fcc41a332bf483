"""A task that nobody waits for any more."""

from __future__ import annotations

import asyncio
from typing import Any


def seen(task: asyncio.Task[Any]) -> None:
    """Look at its end, as a callback: asyncio reports errors that nobody looked at."""
    if not task.cancelled():
        task.exception()
