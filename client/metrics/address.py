"""Where a process shows its numbers."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Address:
    """An address to listen on, and its port; 0: one that is free."""

    host: str
    port: int
