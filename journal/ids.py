"""Identities of sessions, threads and turns.

Rule: an id is a tuple of its parts, written as a JSON array. Nothing is joined with a separator, so
`a/b` + `c` never meets `a` + `b/c`, and no user (None) is not a user named "None".
"""

from __future__ import annotations

import json
import unicodedata
from dataclasses import dataclass
from functools import lru_cache

from turnwright.journal.canonical import digest, encode
from turnwright.journal.errors import InvalidInput

ID_PART_CHARACTERS_MAX = 200
MAIN_THREAD = "main"
SPELLINGS_CACHED_MAX = 4_096
FORK_HEX_DIGITS = 12
_FORBIDDEN_CATEGORIES = frozenset({"Cc", "Cs", "Zl", "Zp"})


def checked_part(name: str, value: str) -> str:
    """The id part itself, if it may be one: 1 to 200 characters without control characters.

    Raises:
        InvalidInput: says which part is wrong and why.
    """
    if not isinstance(value, str) or not 1 <= len(value) <= ID_PART_CHARACTERS_MAX:
        raise InvalidInput(f"{name} must be a text of 1 to {ID_PART_CHARACTERS_MAX} characters, got {value!r}")
    bad = next((c for c in value if unicodedata.category(c) in _FORBIDDEN_CATEGORIES), None)
    if bad is not None:
        raise InvalidInput(f"{name} must not hold control characters, found U+{ord(bad):04X}; remove it")
    return value


def fork_name(origin: ThreadKey, request_id: str) -> str:
    """The name of a fork that is given none: it follows from the request, so that a repeated one finds it."""
    return f"fork-{digest(encode([origin.canonical, request_id])).hex()[:FORK_HEX_DIGITS]}"


@dataclass(frozen=True, slots=True, order=True)
class SessionKey:
    """One business conversation of one user (None: anonymous) of one tenant."""

    tenant: str
    user: str | None
    session: str

    def checked(self) -> SessionKey:
        """Itself, when every part is valid; else raises InvalidInput."""
        checked_part("tenant", self.tenant)
        if self.user is not None:
            checked_part("user", self.user)
        checked_part("session", self.session)
        return self

    @property
    def canonical(self) -> str:
        """The key as a JSON array, its one spelling in the stores."""
        return _spelled(self.tenant, self.user, self.session)

    @property
    def log(self) -> ThreadKey:
        """The thread that holds the session's own entries; its empty agent is no caller's to choose."""
        return ThreadKey(self.tenant, self.user, "", self.session, "")


@dataclass(frozen=True, slots=True, order=True)
class ThreadKey:
    """One agent's continuing context within a session."""

    tenant: str
    user: str | None
    agent: str
    session: str
    thread: str = MAIN_THREAD

    def checked(self) -> ThreadKey:
        """Itself, when every part is valid; else raises InvalidInput."""
        self.session_key.checked()
        checked_part("agent", self.agent)
        checked_part("thread", self.thread)
        return self

    @property
    def session_key(self) -> SessionKey:
        """The session this thread belongs to."""
        return SessionKey(self.tenant, self.user, self.session)

    @property
    def is_session_log(self) -> bool:
        """Whether this is the reserved thread of the session's own entries."""
        return not self.agent and not self.thread

    @property
    def canonical(self) -> str:
        """The key as a JSON array, its one spelling in the stores."""
        return _spelled(self.tenant, self.user, self.agent, self.session, self.thread)

    @classmethod
    def parse(cls, canonical: str) -> ThreadKey:
        """The key from its canonical spelling."""
        tenant, user, agent, session, thread = json.loads(canonical)
        return cls(tenant, user, agent, session, thread)


def tenant_prefix(tenant: str) -> str:
    """How the canonical spelling of each key of a tenant begins, and of no other's."""
    return f"{_spelled(tenant)[:-1]},"


def owner_prefix(tenant: str, user: str | None) -> str:
    """How the canonical spelling of each key of a tenant's user begins, and of no other's."""
    return f"{_spelled(tenant, user)[:-1]},"


@lru_cache(maxsize=SPELLINGS_CACHED_MAX)
def _spelled(*parts: str | None) -> str:
    """The parts as a JSON array; remembered, because each transaction asks several times."""
    return json.dumps(parts, ensure_ascii=False, separators=(",", ":"))


def turn_id(key: ThreadKey, request_id: str) -> str:
    """The turn that `request_id` submits on this thread: the same for every retry of the request."""
    return "t-" + digest(key.canonical.encode(), request_id.encode()).hex()[:32]


def checked_request_id(request_id: str) -> str:
    """A request id of 1 to 200 characters, or InvalidInput."""
    return checked_part("request_id", request_id)
