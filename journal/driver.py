"""The port of a journal store: it runs scripts, tells of commits, and knows which processes live.

A driver knows nothing of turns. Every store passes the suite in `tests/integration/stores`.

    driver = open_driver("sqlite:///journal.db")      # turnwright.journal.drivers
    await driver.start(); await driver.migrate()
    receipt = await driver.write(lambda: submit(...))  # a fresh generator for each try

Errors are those of `turnwright.journal.errors`. `StoreUnavailable` from `write` leaves open whether the
transaction was committed (the connection may have died during the commit): repeat it, scripts recognise
their own entries. A cancelled `write` leaves it open too.
"""

import re
from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from types import TracebackType
from typing import Any, Literal, Protocol, Self, TypeAlias, TypeVar

import structlog

from turnwright.journal.errors import InvalidInput
from turnwright.journal.script import Liveness, Script
from turnwright.journal.sealing.sealer import Sealer

T = TypeVar("T")
log = structlog.get_logger(__name__)

Hook: TypeAlias = Callable[[str], Awaitable[None] | None]
"""Called with `begin`, with each statement's name before it runs, with `commit` and with `committed`.

For tests: it may raise (the script fails there), wait, or kill the process. SQLite calls it in the
driver's own thread and runs an awaitable on the loop meanwhile.
"""

Observer: TypeAlias = Callable[[Sequence[object], float], None]
"""Called on the loop after each commit of this process, with the transaction's notes and how long it took: the seconds
from its request to its commit. It must not raise."""


def tell(observers: Sequence[Observer], notes: Sequence[object], seconds: float) -> None:
    """Have each hear of a commit, which stands whatever one makes of that."""
    for observer in observers:
        try:
            observer(notes, seconds)
        except Exception:
            log.exception("observer_failed")


HOLD_NAME = re.compile(r"[A-Za-z0-9_-][A-Za-z0-9._-]{0,99}")
"""Names of presences and leads: they become file names."""


def checked_hold_name(name: str) -> str:
    """The name itself, if a presence or a lead may be called so; else raises InvalidInput."""
    if not HOLD_NAME.fullmatch(name):
        raise InvalidInput(f"{name!r} cannot name a lock; use 1 to 100 of A-Z a-z 0-9 . _ -, no dot in front")
    return name


class Subscription(Protocol):
    """A standing watch. It remembers a commit that happened between two calls."""

    async def __aenter__(self) -> Self: ...

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None: ...

    async def changed(self, timeout_s: float) -> bool:
        """Wait until something watched may have been committed; False after `timeout_s`.

        A wake-up can be false, and over a network one can be lost: look at the journal after a False too,
        `timeout_s` is the slow poll.
        """
        ...


class Hold(Protocol):
    """A lock that the kernel or the server frees when this process dies, and a beat for hangs."""

    @property
    def name(self) -> str:
        """The presence id, or what is led."""
        ...

    @property
    def lost(self) -> bool:
        """True once the lock is gone (released, or its connection broke). It never comes back."""
        ...

    async def beat(self, info: Mapping[str, Any] | None = None) -> None:
        """Say that this process still moves, and with `info` what it tells from now on.

        Raises `HoldLost` when the lock is gone: take it again.
        """
        ...

    async def release(self) -> None:
        """Give the lock back. Harmless when it is gone."""
        ...


@dataclass(frozen=True, slots=True)
class Presence:
    """A process as others see it."""

    presence_id: str
    info: Mapping[str, Any]
    liveness: Liveness


class Driver(Protocol):
    """A journal store."""

    hook: Hook | None
    sealer: Sealer
    """Stands between scripts and the store (`turnwright.journal.sealing`)."""
    observers: list[Observer]
    """Who hears of its commits. They know nothing of each other, so their order is of no matter."""

    @property
    def dialect(self) -> Literal["sqlite", "postgres"]:
        """Which folder of statements it uses."""
        ...

    async def start(self) -> None:
        """Connect. Raises `StoreUnavailable` or `StoreError`; makes no tables (see `migrate`)."""
        ...

    async def stop(self) -> None:
        """Finish what was accepted, free every lock, disconnect. Harmless twice."""
        ...

    async def migrate(self, to: int | None = None) -> int:
        """Bring the tables up to this version of the code (or to step `to`); returns the schema's version.

        One process at a time does it, the others wait and find it done.
        """
        ...

    async def schema_version(self) -> int:
        """The number of the last migration applied; 0 for an empty store."""
        ...

    async def write(self, script: Callable[[], Script[T]]) -> T:
        """Run it in one transaction and answer after the commit. What the script raises is raised here."""
        ...

    async def read(self, script: Callable[[], Script[T]]) -> T:
        """Run it read-only on one snapshot."""
        ...

    async def scrub(self) -> None:
        """See that what was just erased is gone from the store's files too, as far as that is in its power."""
        ...

    def watch(self, keys: Collection[str] | None = None) -> Subscription:
        """Watch for commits, of this and other processes, that touch one of `keys` (None: any)."""
        ...

    async def hold_presence(self, presence_id: str, info: Mapping[str, Any], *, lease_s: float) -> Hold:
        """Appear to others under an id that no other process ever used. Without a beat for `lease_s` it lapses."""
        ...

    async def liveness(self, presences: Collection[str]) -> Mapping[str, Liveness]:
        """Who of these lives; an id nobody knows is dead."""
        ...

    async def presences(self, *, info: bool = True) -> list[Presence]:
        """Everybody who holds a presence, and the recently dead that have not been cleared away.

        `info`: with what they tell about themselves, which may be much.
        """
        ...

    async def try_lead(self, name: str, *, lease_s: float) -> Hold | None:
        """Take the lead in something, or None while another has it."""
        ...

    async def leader(self, name: str) -> Liveness:
        """How whoever leads is doing; `dead` when nobody does."""
        ...
