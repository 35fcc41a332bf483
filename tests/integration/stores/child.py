"""`python -m tests.integration.stores.child <journal url> <role> …`: another process of the same journal.

It prints a line at each thing a test waits for, and is usually killed.
"""

import asyncio
import sys
from collections.abc import Awaitable, Callable
from functools import partial
from typing import Any

import structlog

from tests.integration.stores.seeds import Place, append_at, remember, touch
from turnwright.journal.driver import Driver
from turnwright.journal.drivers import open_driver
from turnwright.journal.script import Script

FOR_EVER_S = 3600


def say(line: str) -> None:
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


async def presence(driver: Driver, presence_id: str, lease_s: str) -> None:
    hold = await driver.hold_presence(presence_id, {"role": "child"}, lease_s=float(lease_s))
    say("held")
    while True:
        await asyncio.sleep(float(lease_s) / 4)
        await hold.beat()


async def lead(driver: Driver, name: str) -> None:
    hold = await driver.try_lead(name, lease_s=60)
    say("leads" if hold else "follows")
    await asyncio.sleep(FOR_EVER_S)


async def commit(driver: Driver, name: str, key: str = "") -> None:
    def script() -> Script[None]:
        yield from remember(name)
        if key:
            yield from touch(key)

    await driver.write(script)
    say("committed")
    await asyncio.sleep(FOR_EVER_S)


async def append(driver: Driver, session_id: str, *thread_ids: str) -> None:
    """Append to each of these threads for ever; say thread and seq after each commit."""

    async def to(place: Place) -> None:
        seq = 0
        while True:
            position = await driver.write(partial(append_at, place, seq, size=1500))
            assert position is not None
            seq += 4
            say(f"{place.thread_id} {seq}")

    await asyncio.gather(*(to(Place(int(session_id), int(thread_id))) for thread_id in thread_ids))


async def block(driver: Driver, statement: str) -> None:
    """Stop inside a transaction, before that statement, until killed."""

    async def hook(point: str) -> None:
        if point == statement:
            say("inside")
            await asyncio.sleep(FOR_EVER_S)

    driver.hook = hook
    await driver.write(lambda: remember("from the child"))


ROLES: dict[str, Callable[..., Awaitable[Any]]] = {
    "presence": presence,
    "lead": lead,
    "commit": commit,
    "append": append,
    "block": block,
}


async def main(url: str, role: str, *args: str) -> None:
    structlog.configure(logger_factory=structlog.PrintLoggerFactory(sys.stderr))
    driver = open_driver(url)
    await driver.start()
    await ROLES[role](driver, *args)


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:]))
