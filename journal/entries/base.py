"""What every entry has: a typed payload inside an envelope.

Rule: a payload class names its type and version once, as class attributes. Both stand outside the
stored body, so reading an entry needs no parsing to know what it is.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, ClassVar

from pydantic import GetCoreSchemaHandler, GetJsonSchemaHandler
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import CoreSchema, core_schema

from turnwright.journal.canonical import NESTING_LEVELS_MAX, encode, repair
from turnwright.journal.durations import SECOND_US
from turnwright.journal.errors import UnknownEntryType
from turnwright.journal.messages import Frozen

REGISTRY: dict[str, type[Payload]] = {}
_ENVELOPING_LEVELS = 20
_TEXT, _NUMBER, _SWITCH = {"type": "string"}, {"type": "integer"}, {"type": "boolean"}
_ENVELOPE: Mapping[str, Any] = {
    "schema": _NUMBER,
    "entry_id": _TEXT,
    "seq": _NUMBER,
    "position": _NUMBER,
    "at": {"type": "string", "format": "date-time"},
    "at_us": _NUMBER,
    "type": _TEXT,
    "turn_id": {"type": ["string", "null"]},
    "run": {"type": ["string", "null"]},
    "step": {"type": ["integer", "null"]},
    "epoch": {"type": ["integer", "null"]},
    "required": _SWITCH,
    "erased": _SWITCH,
    "unreadable": _SWITCH,
    "payload": {"type": "object"},
    "prev_hash": _TEXT,
    "hash": _TEXT,
}


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

    def as_json(self) -> dict[str, Any]:
        """The entry as JSON for the outside; hashes in hexadecimal. `of_json` reads it back."""
        return {
            "schema": self.payload.VERSION,
            "entry_id": self.entry_id,
            "seq": self.seq,
            "position": self.position,
            "at": self.when.isoformat(),
            "at_us": self.at_us,
            "type": self.type,
            "turn_id": self.turn_id,
            "run": self.run,
            "step": self.step,
            "epoch": self.epoch,
            "required": self.payload.REQUIRED,
            "erased": isinstance(self.payload, Erased),
            "unreadable": isinstance(self.payload, Unreadable),
            "payload": self.payload.model_dump(mode="json"),
            "prev_hash": self.prev_hash.hex(),
            "hash": self.hash.hex(),
        }

    @classmethod
    def of_json(cls, given: Mapping[str, Any]) -> Entry:
        """The entry that `as_json` gave.

        Raises:
            UnknownEntryType: a newer version gave it, and it is required.
            KeyError, ValueError: it is no entry.
        """
        return cls(
            given["entry_id"], _payload_of(given), given["turn_id"], given["run"], given["step"], given["epoch"],
            given["seq"], given["position"], given["at_us"],
            bytes.fromhex(given["prev_hash"]), bytes.fromhex(given["hash"]),
        )  # fmt: skip

    @classmethod
    def __get_pydantic_core_schema__(cls, source: object, handler: GetCoreSchemaHandler) -> CoreSchema:
        """Wherever an entry stands in something that becomes JSON, it is as `as_json` says."""
        return core_schema.no_info_plain_validator_function(
            lambda given: given if isinstance(given, cls) else cls.of_json(given),
            serialization=core_schema.plain_serializer_function_ser_schema(cls.as_json),
        )

    @classmethod
    def __get_pydantic_json_schema__(cls, schema: CoreSchema, handler: GetJsonSchemaHandler) -> JsonSchemaValue:
        """Its envelope; what the payload holds follows from `type` and `schema`."""
        del schema, handler
        return {"title": cls.__name__, "type": "object", "properties": _ENVELOPE, "required": list(_ENVELOPE)}


def _payload_of(given: Mapping[str, Any]) -> Payload:
    kind, version, body = given["type"], given["schema"], given["payload"]
    if given["erased"]:
        return Erased(type=kind)
    known = REGISTRY.get(kind)
    if given["unreadable"]:
        return Unreadable.model_validate(body)
    if known is not None and version == known.VERSION:
        return known.model_validate(body)
    if given["required"]:
        raise UnknownEntryType(kind, version, f"seq {given['seq']}")
    return Unreadable(type=kind, version=version, raw=encode(body).decode())
