"""What a process shows that its commits and its journal do not tell."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field


async def _nobody_knows() -> None:
    """Of a Temporal that is not used."""


async def _nothing() -> bytes:
    """Of a process without a Temporal of its own."""
    return b""


@dataclass(frozen=True, slots=True)
class Beside:
    """Where to find it.

    `temporal`: whether Temporal answers this process; None: nobody knows. `rescues`: how often its sweeper woke a
    thread, by why. `more`: families that another part of the process counts, in Prometheus's text format.
    """

    temporal: Callable[[], Awaitable[bool | None]] = _nobody_knows
    rescues: Mapping[str, int] = field(default_factory=dict)
    more: Callable[[], Awaitable[bytes]] = _nothing
