"""A worker's presence: the lock that says it lives, and the beats that say it moves.

Rule: an id stands for one process as long as that lives. A lock is lost with its connection, and that is no death:
it is taken again under the same id, at once, so that what runs here goes on. What others gave up meanwhile is in
the journal, which stops it.
"""

import contextlib
import os
import secrets
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from importlib.metadata import version
from typing import Any

import structlog

from turnwright.journal.control import REDUCER_VERSION
from turnwright.journal.driver import Driver, Hold
from turnwright.journal.errors import HoldLost, StoreError, StoreUnavailable
from turnwright.journal.takers import AGENTS_TOLD_MAX, REDUCER, SEALS
from turnwright.worker.actor import Looper
from turnwright.worker.condition import Condition

LOOK_INTERVAL_S_MAX = 0.1
BEAT_INTERVAL_S_MAX = 1.0
BEATS_PER_LEASE = 3
TOOLS_SHOWN_MAX = 2_000

log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class WorkerInfo:
    """What a worker tells others about itself; nothing in it names the machine. `tools`: those of each agent."""

    label: str
    task_queue: str
    agents: Sequence[str] = ()
    tools: Mapping[str, Sequence[str]] = field(default_factory=dict)

    def public(self) -> Mapping[str, Any]:
        """As it stands beside the presence in the store."""
        return {
            "label": self.label,
            "pid": os.getpid(),
            "started": datetime.now(UTC).isoformat(timespec="seconds"),
            "agents": list(self.agents[:AGENTS_TOLD_MAX]),
            "version": version("turnwright"),
            REDUCER: REDUCER_VERSION,
            "task_queue": self.task_queue,
            "tools": self._tools(),
        }

    def _tools(self) -> dict[str, list[str]] | None:
        """None where it would be too much to tell: then nobody takes one for missing."""
        too_many = sum(map(len, self.tools.values())) > TOOLS_SHOWN_MAX or len(self.agents) > AGENTS_TOLD_MAX
        return None if too_many else {agent: list(tools) for agent, tools in self.tools.items()}


class PresenceKeeper(Looper):
    """Holds the presence of this process.

    Args:
        driver: where to appear.
        info: what to tell about this worker.
        lease_s: without a beat for so long it counts as frozen.
        announce: told each id before anything is claimed under it.
        condition: how this worker is doing, told when it changes.
    """

    failed_wait_s_max = BEAT_INTERVAL_S_MAX

    def __init__(
        self,
        driver: Driver,
        info: WorkerInfo,
        lease_s: float,
        announce: Callable[[str], None],
        condition: Condition | None = None,
    ) -> None:
        self._beat_interval_s = min(BEAT_INTERVAL_S_MAX, lease_s / BEATS_PER_LEASE)
        super().__init__("presence", min(LOOK_INTERVAL_S_MAX, self._beat_interval_s))
        self._driver = driver
        self._info = {**info.public(), SEALS: driver.sealer.seals}
        self._lease_s = lease_s
        self._announce = announce
        self._condition = condition or Condition()
        self._told = self._condition.told()
        self._hold: Hold | None = None
        self._next_beat_s = 0.0
        self._seen_s = time.monotonic()
        self.presence_id = ""

    @property
    def lapsed(self) -> bool:
        """Whether the store has not heard of this process for the whole lease, as far as is known here."""
        return time.monotonic() - self._seen_s > self._lease_s

    async def begin(self) -> None:
        """Appear."""
        await self._appear()

    async def end(self) -> None:
        """Disappear; others need not wait for the lock to show it."""
        hold, self._hold = self._hold, None
        if hold is not None:
            with contextlib.suppress(StoreError):  # then the connection is gone, and the lock with it
                await hold.release()

    async def round(self) -> None:
        """Beat when it is time, or appear again."""
        if self._hold is None or self._hold.lost:
            await self._appear()
        elif time.monotonic() >= self._next_beat_s:
            began_s = time.monotonic()
            try:
                await self._hold.beat(self._news())
                self._seen_s = began_s
            except HoldLost as error:
                log.warning("presence_lost", presence=self.presence_id, error=str(error))
                await self._appear()
            self._next_beat_s = time.monotonic() + self._beat_interval_s

    def _news(self) -> Mapping[str, Any] | None:
        """All that is told, if some of it has changed since it was told."""
        told = self._condition.told()
        if told == self._told:
            return None
        self._told = told
        return self._whole()

    def _whole(self) -> Mapping[str, Any]:
        return {**self._info, "lease_s": self._lease_s, **self._told}

    async def _appear(self) -> None:
        began_s = time.monotonic()
        self._hold = await self._hold_again() or await self._hold_new()
        self._seen_s = began_s
        self._announce(self.presence_id)
        log.info("presence_held", presence=self.presence_id, label=self._info["label"], pid=os.getpid())

    async def _hold_again(self) -> Hold | None:
        """The lock under the id of before, unless there was none, or the store thinks that it is held."""
        if not self.presence_id:
            return None
        try:
            return await self._driver.hold_presence(self.presence_id, self._whole(), lease_s=self._lease_s)
        except StoreUnavailable:
            raise
        except StoreError as error:
            log.warning("presence_given_up", presence=self.presence_id, error=str(error))
            return None

    async def _hold_new(self) -> Hold:
        presence_id = f"w-{secrets.token_hex(8)}"
        hold = await self._driver.hold_presence(presence_id, self._whole(), lease_s=self._lease_s)
        self.presence_id = presence_id
        return hold
