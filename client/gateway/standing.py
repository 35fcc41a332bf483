"""Whether a credential that was good when a stream began still is.

Rule: a stream outlives the answer to who asks, so it is asked again at each heartbeat, once for all streams of one
credential; a token has an end of its own, which nobody need be asked for. What cannot be told now is no fault of the
credential.
"""

from __future__ import annotations

import asyncio
import hashlib
import time

from turnwright.client.gateway.caller import Caller
from turnwright.client.gateway.credentials import Doorkeeper
from turnwright.client.gateway.problems import IssuerAway, Unauthenticated
from turnwright.client.gateway.readings import Readings
from turnwright.journal.errors import StoreError


class Standing:
    """Looks at the credentials of the streams that are open, every `again_s`."""

    def __init__(self, doorkeeper: Doorkeeper, again_s: float) -> None:
        self._doorkeeper = doorkeeper
        self._again_s = again_s
        self._readings = Readings()

    async def until_ended(self, caller: Caller, authorization: str | None) -> None:
        """Until what this header brings is no credential any more."""
        until_s = caller.until_s
        if until_s is not None and until_s <= time.time():
            until_s = None  # it was taken a little late, and is as long as the doorkeeper takes it
        stands = True
        while stands and (until_s is None or time.time() < until_s):
            left_s = self._again_s if until_s is None else until_s - time.time()
            await asyncio.sleep(max(0.0, min(self._again_s, left_s)))
            stands = await self._stands(authorization)

    async def _stands(self, authorization: str | None) -> bool:
        named = hashlib.sha256((authorization or "").encode()).digest()
        try:
            await self._readings.take(named, lambda: self._doorkeeper.caller(authorization))
        except Unauthenticated:
            return False
        except (IssuerAway, StoreError):
            return True
        return True
