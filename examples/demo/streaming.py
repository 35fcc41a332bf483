"""How far the model server has come with what it writes now: the server is asked itself.

The journal keeps what was streamed when a call is stopped, and not every word on its way. So nobody else knows.
"""

from __future__ import annotations

import asyncio
import http.client
import json
from urllib.parse import urlsplit

POLL_S = 0.03
ASK_TIMEOUT_S = 10.0


async def tokens_written(base_url: str, at_least: int, timeout_s: float) -> int:
    """Wait until an answer that is being written has so many tokens; how many it has."""
    async with asyncio.timeout(timeout_s):
        while (written := await asyncio.to_thread(_ask, base_url)) < at_least:  # noqa: ASYNC110 - another process writes
            await asyncio.sleep(POLL_S)
    return written


def _ask(base_url: str) -> int:
    """The tokens of the longest answer under way; asked without urllib, which would go through a proxy."""
    connection = http.client.HTTPConnection(urlsplit(base_url).netloc, timeout=ASK_TIMEOUT_S)
    try:
        connection.request("GET", "/slots")
        slots = json.loads(connection.getresponse().read())
    finally:
        connection.close()
    return max((_decoded(slot) for slot in slots if slot["is_processing"]), default=0)


def _decoded(slot: dict[str, list[dict[str, int]]]) -> int:
    return max((token["n_decoded"] for token in slot.get("next_token", [])), default=0)
