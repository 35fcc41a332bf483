"""The places between the durable steps of an attempt, by name, so that a test can make the worker die there.

Rule: in production nothing happens at them. `model:…` and `tool:…` are passed in this order: `begun` (nothing is
written), `claimed` (the claim is), `answered` or `ran` (it happened, nothing says so yet), `reported` (it is written).
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TypeAlias

Boundary: TypeAlias = Callable[[str], Awaitable[None]]


async def pass_by(point: str) -> None:
    """Go on."""
    del point
