"""The keys that an issuer of tokens publishes, read when one is needed that is not known.

Rule: however many ask, one request to the issuer is under way, and after it there is none for a while: strangers can
send any number of tokens with keys that nobody has. Keys that were read too long ago are read again before they count,
however seldom somebody asks; only while the issuer is away those it had go on, for a bounded time, and nobody waits for
an issuer that was found to be away just now.
"""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Callable, Mapping
from typing import Any

import httpx2
import structlog
from jwt import PyJWK

from turnwright.client.gateway.problems import IssuerAway

ANSWER_S = 5.0
ANSWER_BYTES_MAX = 1024 * 1024
FRESH_S = 300.0
KEPT_S = 3_600.0
UNKNOWN_AGAIN_S = 30.0
AWAY_AGAIN_S = 5.0
AWAY_S = 30.0
NEVER_S = float("-inf")
AWAY = "the issuer's keys cannot be read now, so nobody can tell whether the token is good; come back soon"

log = structlog.get_logger(__name__)


class KeySet:
    """An issuer's keys, by their ids. `clock` only goes forward."""

    def __init__(self, url: str, clock: Callable[[], float] = time.monotonic) -> None:
        self._url = url
        self._clock = clock
        self._keys: Mapping[str, PyJWK] = {}
        self._read_s = self._failed_s = NEVER_S
        self._reading: asyncio.Task[None] | None = None

    async def find(self, key_id: str) -> PyJWK | None:
        """The key of that id; None: the issuer has none.

        Raises:
            IssuerAway: that cannot be told now.
        """
        age_s = self._clock() - self._read_s
        if age_s >= KEPT_S:
            self._keys = {}
        if age_s >= (FRESH_S if key_id in self._keys else UNKNOWN_AGAIN_S):
            reading = self._read_soon()
            if reading is not None and not (key_id in self._keys and self._is_away()):
                await asyncio.wait([reading])
        known = self._keys.get(key_id)
        if known is None and self._failed_s >= self._read_s:
            raise IssuerAway(AWAY)
        return known

    def _is_away(self) -> bool:
        """Whether it did not answer when it was asked last, and that is not long ago."""
        return self._failed_s >= self._read_s and self._clock() - self._failed_s < AWAY_S

    def _read_soon(self) -> asyncio.Task[None] | None:
        """The request that is under way; None: one has failed just now."""
        if self._reading is None and self._clock() - self._failed_s >= AWAY_AGAIN_S:
            self._reading = asyncio.create_task(self._read())
            self._reading.add_done_callback(self._end)
        return self._reading

    def _end(self, _: asyncio.Task[None]) -> None:
        self._reading = None

    async def _read(self) -> None:
        try:
            async with asyncio.timeout(ANSWER_S):
                self._keys = _keys_in(await self._published())
            self._read_s = self._clock()
        except Exception as error:  # noqa: BLE001 - whatever it answers is no fault of who waits for it
            self._failed_s = self._clock()
            log.warning("issuer_away", url=self._url, why=str(error) or type(error).__name__)

    async def _published(self) -> bytes:
        body = b""
        async with httpx2.AsyncClient(timeout=ANSWER_S) as http, http.stream("GET", self._url) as answer:
            answer.raise_for_status()
            async for part in answer.aiter_bytes():
                body += part
                if len(body) > ANSWER_BYTES_MAX:
                    raise ValueError(f"it is larger than {ANSWER_BYTES_MAX:,} bytes")
        return body


def _keys_in(body: bytes) -> dict[str, PyJWK]:
    """Those that sign."""
    said = json.loads(body)
    if not isinstance(said, dict) or not isinstance(said.get("keys"), list):
        raise TypeError("it is no set of keys")
    read = [key for key in map(_key, said["keys"]) if key is not None]
    if not read:
        raise ValueError("there is no key in it that can be read")
    return {str(key.key_id): key for key in read if key.key_id and key.public_key_use in ("sig", None)}


def _key(said: Any) -> PyJWK | None:  # noqa: ANN401 - whatever an issuer wrote
    """One of its keys; None: it is of no kind that is known here, which makes the others no worse."""
    try:
        return PyJWK.from_dict(said)
    except Exception:  # noqa: BLE001 - the library raises whatever it stumbles over
        return None
