"""What is kept of a state, under which key, and what is offered to be kept.

Rule: the bytes are canonical JSON, so the same state gives the same bytes wherever and whenever it is written. Their
digest is kept beside them: what was cut off or changed is seen when it is read.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from turnwright.journal.agent_state import AgentState
from turnwright.journal.canonical import encode, repair
from turnwright.journal.codec import problem
from turnwright.journal.errors import InvalidInput, StoreCorrupt
from turnwright.journal.ids import ThreadKey, checked_part
from turnwright.journal.transact.rows import dump

AGENT_STATE = "agent_state"
SEQ_MAX = 2**53  # what Redis counts exactly
WAY_TO_REBUILD = "turnwright snapshots rebuild"


@dataclass(frozen=True, slots=True, order=True)
class SnapshotKey:
    """Whose state it is: a thread's, and which of its states (`agent_state`: the one that workers write)."""

    thread: ThreadKey
    state_key: str = AGENT_STATE

    def checked(self) -> SnapshotKey:
        """Itself, when every part is valid; else raises InvalidInput."""
        self.thread.checked()
        checked_part("state_key", self.state_key)
        return self

    @property
    def parts(self) -> tuple[str | None, ...]:
        """tenant, user, agent, session, thread, state_key."""
        key = self.thread
        return key.tenant, key.user, key.agent, key.session, key.thread, self.state_key

    @property
    def canonical(self) -> str:
        """The key as a JSON array, its one spelling."""
        return encode(list(self.parts)).decode()

    @property
    def in_session(self) -> str:
        """What tells it from the others of its session, as a JSON array."""
        return encode([self.thread.agent, self.thread.thread, self.state_key]).decode()

    @property
    def digest(self) -> str:
        """For places that cannot hold every key: 64 hexadecimal digits, of no other key."""
        return digest_of(self.canonical)

    @classmethod
    def of_parts(cls, parts: tuple[str | None, ...] | list[Any]) -> SnapshotKey:
        """The key of these `parts`. Raises `ValueError` or `TypeError` when they are none."""
        tenant, user, agent, session, thread, state_key = parts
        return cls(ThreadKey(tenant, user, agent, session, thread), state_key).checked()  # type: ignore[arg-type]


@dataclass(frozen=True)
class Offer:
    """A state that is to be kept."""

    as_of_seq: int
    payload: bytes

    @classmethod
    def of_state(cls, state: AgentState) -> Offer:
        """An agent's state, as it is."""
        return cls(state.as_of_seq, dump(state))

    @classmethod
    def of_value(cls, as_of_seq: int, value: Any) -> Offer:  # noqa: ANN401 - any JSON value
        """Any JSON value; text that no store can hold is repaired visibly. Raises `InvalidInput`."""
        return cls(as_of_seq, encode(repair(value)))

    @cached_property
    def sha256(self) -> str:
        """What the bytes are recognised by."""
        return hashlib.sha256(self.payload).hexdigest()

    def checked(self) -> Offer:
        """Itself, if it can be kept; else raises InvalidInput."""
        if not 0 <= self.as_of_seq <= SEQ_MAX:
            raise InvalidInput(f"a snapshot is true for an entry's number, not for {self.as_of_seq}")
        return self


@dataclass(frozen=True, slots=True)
class Head:
    """What is kept of a snapshot beside its bytes. `version` counts the writes of this key in this store."""

    version: int
    as_of_seq: int
    sha256: str


@dataclass(frozen=True, slots=True)
class Snapshot:
    """A state as it is kept. `place` says where, for people."""

    key: SnapshotKey
    version: int
    as_of_seq: int
    payload: bytes
    place: str

    @property
    def value(self) -> Any:  # noqa: ANN401 - any JSON value
        """The JSON value."""
        return json.loads(self.payload)

    @property
    def state(self) -> AgentState:
        """The agent's state. Raises `StoreCorrupt` if it is none that this version can read."""
        try:
            return AgentState.model_validate_json(self.payload)
        except ValueError as error:
            raise unreadable(self.place, f"it holds no agent's state: {problem(error)}") from error


def whole(key: SnapshotKey, head: Head, payload: bytes, place: str) -> Snapshot:
    """What was read, if it is what was written. Raises `StoreCorrupt`."""
    found = hashlib.sha256(payload).hexdigest()
    if found != head.sha256:
        raise unreadable(place, f"its {len(payload):,} bytes are not those that were written")
    return Snapshot(key, head.version, head.as_of_seq, payload, place)


def unreadable(place: str, why: str) -> StoreCorrupt:
    """The error of a snapshot that cannot be read."""
    return StoreCorrupt(f"the snapshot at {place} cannot be read: {why}", rebuild=WAY_TO_REBUILD)


def digest_of(canonical: str) -> str:
    """64 hexadecimal digits that stand for a key where its spelling cannot."""
    return hashlib.sha256(canonical.encode()).hexdigest()
