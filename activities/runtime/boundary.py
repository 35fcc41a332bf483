"""The places between durable steps, by name, so that a test can make the worker die there.

Rule: in production nothing happens at them. An attempt passes `model:begun` (nothing is written), `model:claimed` (the
claim is), `model:answered` (it happened, nothing says so yet) and `model:reported` (it is written); that of a tool
`tool:begun`, `tool:claimed`, `tool:ran`, `tool:reported`. A run passes `turn:claiming` before its claim is written,
a thread `thread:looked` when it has read what is next and nobody was woken yet. A tick of a schedule passes `tick:come`
before anything of it is written, and `tick:taken` when its turn is queued and nobody was woken yet.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TypeAlias

Boundary: TypeAlias = Callable[[str], Awaitable[None]]


async def pass_by(point: str) -> None:
    """Go on."""
    del point
