"""How a deliverer looks for what is due while it delivers."""

from __future__ import annotations

import asyncio

from tests.integration.client.gateway_server import LOOK_S
from tests.integration.client.hands import AGENT
from tests.integration.client.receiver import Receiver
from turnwright.client import Client
from turnwright.client.gateway.deliverer import Deliverer
from turnwright.client.gateway.posting import WebhookSettings
from turnwright.client.opening import open_journal
from turnwright.journal.driver import Driver


async def test_who_is_delivered_to_while_that_is_read_is_told_nothing_again(
    driver: Driver, journal_url: str, client: Client
) -> None:
    journal, receiver, held, go_on = await open_journal(journal_url), Receiver(), asyncio.Event(), asyncio.Event()
    looking_slowly = False

    async def hook(point: str) -> None:
        """Stop a look between what it has read and what it makes of it."""
        if point == "next_webhook_try" and looking_slowly:
            held.set()
            await go_on.wait()

    journal.driver.hook = hook
    session = client.session("ann", "s")
    await session.create()
    receiver.open.clear()
    async with receiver.listening() as at, Deliverer(journal, WebhookSettings(private=True)):
        begin = (await session.create_webhook(at)).webhook.position
        await session.submit("one", agent=AGENT)
        await receiver.until(1)
        looking_slowly = True
        await session.submit("two", agent=AGENT)
        await held.wait()
        receiver.open.set()
        last = (await session.status()).last_position
        while (await session.webhooks()).items[0].position < last:
            await asyncio.sleep(LOOK_S)
        looking_slowly = False
        go_on.set()
        await session.submit("three", agent=AGENT)
        last = (await session.status()).last_position
        while (await session.webhooks()).items[0].position < last:
            await asyncio.sleep(LOOK_S)
    await journal.close()
    assert [one.position for one in receiver.posted] == list(range(begin + 1, last + 1))
