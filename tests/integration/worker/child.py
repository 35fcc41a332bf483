"""`python -m tests.integration.worker.child <journal url> <role> …`: another process of the same journal.

It prints a line at each thing a test waits for, and is usually killed or stopped.
"""

import asyncio
import sys
from collections.abc import Awaitable, Callable
from typing import Any

from turnwright.journal.driver import Driver
from turnwright.journal.drivers import open_driver
from turnwright.journal.transact.sweeping import Suspect
from turnwright.journal.transact.thread_script import Terms
from turnwright.worker.logs import configure_logs
from turnwright.worker.presence import PresenceKeeper, WorkerInfo
from turnwright.worker.sweeper import Sweeper, SweepSettings

FOR_EVER_S = 3600


def say(line: str) -> None:
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


class SayingRouser:
    """Says whom it was told to rouse."""

    async def rouse(self, suspect: Suspect) -> None:
        say(f"roused {suspect.thread_id} {suspect.wakes}")


async def presence(driver: Driver, lease_s: str) -> None:
    await PresenceKeeper(driver, WorkerInfo("child", "queue"), float(lease_s), say).start()
    await asyncio.sleep(FOR_EVER_S)


async def sweep(driver: Driver, interval_s: str, stall_s: str) -> None:
    sweeper = Sweeper(driver, SayingRouser(), Terms, SweepSettings(float(interval_s), float(stall_s)))
    await sweeper.start()
    while not sweeper.lead.held:
        await asyncio.sleep(0.01)
    say("leads")
    await asyncio.sleep(FOR_EVER_S)


ROLES: dict[str, Callable[..., Awaitable[Any]]] = {"presence": presence, "sweep": sweep}


async def main(url: str, role: str, *args: str) -> None:
    configure_logs("json", "info", sys.stderr)
    driver = open_driver(url)
    await driver.start()
    await ROLES[role](driver, *args)


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:]))
