"""A worker's presence: the lock that says it lives, and the beats that say it moves.

Rule: an id is used once. When the lock is lost, others may have given up this process's claims already, so it
appears again under a new id and says so; work that was claimed under the old one is judged by the journal.
"""

import contextlib
import os
import secrets
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib.metadata import version
from typing import Any

import structlog

from turnwright.journal.driver import Driver, Hold
from turnwright.journal.errors import HoldLost, StoreError
from turnwright.worker.actor import Looper

BEAT_INTERVAL_S_MAX = 1.0
BEATS_PER_LEASE = 3
AGENTS_SHOWN_MAX = 200

log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class WorkerInfo:
    """What a worker tells others about itself; nothing in it names the machine."""

    label: str
    task_queue: str
    agents: Sequence[str] = ()

    def public(self) -> Mapping[str, Any]:
        """As it stands beside the presence in the store."""
        return {
            "label": self.label,
            "pid": os.getpid(),
            "started": datetime.now(UTC).isoformat(timespec="seconds"),
            "agents": list(self.agents[:AGENTS_SHOWN_MAX]),
            "version": version("turnwright"),
            "task_queue": self.task_queue,
        }


class PresenceKeeper(Looper):
    """Holds the presence of this process.

    Args:
        driver: where to appear.
        info: what to tell about this worker.
        lease_s: without a beat for so long it counts as frozen.
        announce: told each new id before anything is claimed under it.
    """

    def __init__(self, driver: Driver, info: WorkerInfo, lease_s: float, announce: Callable[[str], None]) -> None:
        super().__init__("presence", min(BEAT_INTERVAL_S_MAX, lease_s / BEATS_PER_LEASE))
        self._driver = driver
        self._info = info.public()
        self._lease_s = lease_s
        self._announce = announce
        self._hold: Hold | None = None
        self._last_id = ""

    @property
    def presence_id(self) -> str:
        """The id at the moment; the last one while a new one cannot be had."""
        return self._last_id

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
        """Beat, or appear again."""
        if self._hold is not None and not self._hold.lost:
            try:
                await self._hold.beat()
                return
            except HoldLost as error:
                log.warning("presence_lost", presence=self._last_id, error=str(error))
        await self._appear()

    async def _appear(self) -> None:
        presence_id = f"w-{secrets.token_hex(8)}"
        before = {"instead_of": self._last_id} if self._last_id else {}
        self._hold = await self._driver.hold_presence(presence_id, self._info, lease_s=self._lease_s)
        self._last_id = presence_id
        self._announce(presence_id)
        log.info("presence_held", presence=presence_id, label=self._info["label"], **before)
