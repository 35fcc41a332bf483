"""A browser, started once, and for each test a stage on which the console plays."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from functools import partial

import pytest
import pytest_asyncio
from playwright.async_api import Browser

from tests.e2e.console.stage import CHROMIUM, Stage, chromium
from tests.integration.client.hands import AGENT, Hands
from tests.integration.client.program import NOBODY_THERE
from turnwright.client import Client
from turnwright.journal.drivers import open_driver
from turnwright.journal.state_parts import PermissionState
from turnwright.journal.store import Journal
from turnwright.journal.transact.serving import begin_serving
from turnwright.journal.transact.thread_script import Terms

PRESENCE = "w-hands"


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def browser() -> AsyncIterator[Browser]:
    if not CHROMIUM.exists():
        pytest.skip("Debian's browser is not installed: apt-get install chromium")
    async with chromium() as browser:
        yield browser


@pytest_asyncio.fixture(loop_scope="session")
async def stage(sqlite_url: str, browser: Browser) -> AsyncIterator[Stage]:
    """On SQLite: what the browser sees is the gateway, and both stores are behind that in its own tests."""
    async with AsyncExitStack() as stack:
        driver = open_driver(sqlite_url)
        await driver.start()
        stack.push_async_callback(driver.stop)
        await driver.migrate()
        await driver.hold_presence(PRESENCE, {"label": "shop-worker", "pid": 4711, "agents": [AGENT]}, lease_s=600)
        journal = Journal(driver, Terms(presence=PRESENCE))
        await driver.write(partial(begin_serving, PRESENCE, "cluster/namespace", await journal.journal_id()))
        hands, asking = Hands(journal, PRESENCE), Hands(journal, PRESENCE, PermissionState())
        connecting = Client.connect(journal_url=sqlite_url, tenant="acme", temporal_address=NOBODY_THERE)
        stage = Stage(driver, sqlite_url, await stack.enter_async_context(connecting), hands, asking, browser)
        await stage.start()
        stack.push_async_callback(stage.stop)
        yield stage
        for context in browser.contexts:  # a page that still asks would hold up the gateway on its way out
            await context.close()
    assert stage.complaints == []
