"""Subscribers of one event stream, in a process of their own.

`python -m benchmarks.audience_process PORT PATH COUNT`. Says `ready` when all of them follow, is then told the last
position on its input, and when each has that position prints all it got: for every subscriber the positions and the
microseconds from the time that each entry bears until it was here.

Rule: while entries come, what comes is only kept, with its time; it is looked at when all is over.
"""

from __future__ import annotations

import asyncio
import json
import os
import re
import sys
import time
from dataclasses import dataclass, field

from benchmarks.servers import Asking, Server

HEARD_S_MAX = 60
LOOK_S = 0.05
_ENTRY = re.compile(rb'^id: (\d+)\nevent: entry\ndata: .*?"at_us":(\d+)', re.MULTILINE)
_IDS = re.compile(rb"^id: (\d+)$", re.MULTILINE)


@dataclass(slots=True)
class Subscriber:
    """One of them: what came, and when."""

    asking: Asking
    heard: list[tuple[float, bytes]] = field(default_factory=list)
    last: int = 0

    async def listen(self) -> None:
        """Keep what comes, for ever."""
        while True:
            chunk = await self.asking.event()
            self.heard.append((time.time(), chunk))
            for found in _IDS.finditer(chunk):
                self.last = int(found[1])

    def told(self) -> list[tuple[int, int]]:
        """Each entry's position, and the microseconds until it was here."""
        return [
            (int(position), round(at_s * 1_000_000) - int(at_us))
            for at_s, chunk in self.heard
            for position, at_us in _ENTRY.findall(chunk)
        ]


async def _main(port: int, path: str, count: int) -> None:
    server = Server(os.getpid(), port)
    everybody = [Subscriber(await server.connect()) for _ in range(count)]
    for one in everybody:
        await one.asking.follow(path)
    listening = [asyncio.create_task(one.listen()) for one in everybody]
    print("ready", flush=True)
    last = int(await asyncio.to_thread(sys.stdin.readline))
    async with asyncio.timeout(HEARD_S_MAX):
        while min(one.last for one in everybody) < last:  # noqa: ASYNC110 - looked at seldom, so that it costs nothing
            await asyncio.sleep(LOOK_S)
    for task in listening:
        task.cancel()
    print(json.dumps([one.told() for one in everybody]), flush=True)


if __name__ == "__main__":
    asyncio.run(_main(int(sys.argv[1]), sys.argv[2], int(sys.argv[3])))
