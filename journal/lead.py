"""Leading in something that one process should do, and that every process may do.

Rule: the lead is a preference. It saves others the work; nothing is wrong when two have it, or when none has.
"""

from typing import Literal

from turnwright.journal.driver import Driver, Hold
from turnwright.journal.errors import HoldLost, StoreError

Role = Literal["new_leader", "leader", "deputy", "follower"]


class Lead:
    """One process's part in it."""

    def __init__(self, driver: Driver, name: str, lease_s: float) -> None:
        self._driver = driver
        self._name = name
        self._lease_s = lease_s
        self._hold: Hold | None = None

    @property
    def held(self) -> bool:
        """Whether this process leads."""
        return self._hold is not None and not self._hold.lost

    async def role(self) -> Role:
        """Keep the lead or try to take it. A deputy acts because the leader holds its lock and does not move."""
        if await self.keep():
            return "leader"
        self._hold = await self._driver.try_lead(self._name, lease_s=self._lease_s)
        if self._hold is not None:
            return "new_leader"
        return "follower" if (await self._driver.leader(self._name)).state == "alive" else "deputy"

    async def keep(self) -> bool:
        """Say that this process still leads, if it does."""
        if self._hold is None:
            return False
        try:
            await self._hold.beat()
        except HoldLost:
            self._hold = None
            return False
        return True

    async def release(self) -> None:
        """Let another lead."""
        hold, self._hold = self._hold, None
        if hold is not None and not hold.lost:
            try:
                await hold.release()
            except StoreError:
                return  # the connection is gone, and the lock with it
