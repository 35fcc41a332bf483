"""What every entry has: a typed payload inside an envelope.

Rule: a payload class names its type and version once, as class attributes. Both stand outside the
stored body, so reading an entry needs no parsing to know what it is.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import ClassVar

from turnwright.journal.canonical import NESTING_LEVELS_MAX, encode, repair
from turnwright.journal.durations import SECOND_US
from turnwright.journal.messages import Frozen

REGISTRY: dict[str, type[Payload]] = {}
_ENVELOPING_LEVELS = 20


class Payload(Frozen):
    """Base of all payloads. A concrete one sets `TYPE`, and `VERSION` once its schema has changed."""

    TYPE: ClassVar[str] = ""
    VERSION: ClassVar[int] = 1
    REQUIRED: ClassVar[bool] = True

    @classmethod
    def __pydantic_init_subclass__(cls, **kwargs: object) -> None:
        """Register the class under its type."""
        super().__pydantic_init_subclass__(**kwargs)
        if cls.TYPE:
            REGISTRY[cls.TYPE] = cls

    def body(self) -> bytes:
        """The canonical bytes that are stored; defaults are left out, so a new optional field is free."""
        dumped = self.model_dump(exclude_defaults=True)
        return encode(repair(dumped, NESTING_LEVELS_MAX + _ENVELOPING_LEVELS))


class ByPrincipal(Payload):
    """A fact somebody decided: `principal` says who, `reason` why."""

    principal: str = ""
    reason: str | None = None


class Unreadable(Payload):
    """An optional entry of a type this version does not know; its body is kept as it was read."""

    type: str
    version: int
    raw: str


class Erased(Payload):
    """Stands in for a payload that was erased; `type` is what the entry was."""

    type: str


@dataclass(frozen=True, slots=True)
class Draft:
    """An entry that has not been committed: no number, no time, no hash."""

    entry_id: str
    payload: Payload
    turn_id: str | None = None
    run: str | None = None
    step: int | None = None
    epoch: int | None = None

    @property
    def type(self) -> str:
        """The entry's type, such as `turn.queued`; also of one whose payload was erased or is unknown."""
        payload = self.payload
        return payload.type if isinstance(payload, Unreadable | Erased) else payload.TYPE

    def at(self, seq: int, at_us: int) -> Entry:
        """The entry this draft becomes under that number and time; the store adds position and hashes."""
        return Entry(self.entry_id, self.payload, self.turn_id, self.run, self.step, self.epoch, seq=seq, at_us=at_us)


@dataclass(frozen=True, slots=True)
class Entry(Draft):
    """A committed fact. Order is `seq` (contiguous in its thread), never time.

    `position` is contiguous in the session; `at_us` is the store's clock, microseconds since 1970 UTC.
    """

    seq: int = 0
    position: int = 0
    at_us: int = 0
    prev_hash: bytes = b""
    hash: bytes = b""

    @property
    def when(self) -> datetime:
        """The store's time of the commit, UTC."""
        return datetime.fromtimestamp(self.at_us / SECOND_US, UTC)

    def stored(self, position: int, prev_hash: bytes, hash_: bytes) -> Entry:
        """The entry with what the store gave it."""
        return Entry(
            self.entry_id, self.payload, self.turn_id, self.run, self.step, self.epoch,
            self.seq, position, self.at_us, prev_hash, hash_,
        )  # fmt: skip
