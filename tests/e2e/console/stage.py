"""The console in a real browser, a gateway behind it, and a worker's hands."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

from playwright.async_api import Browser, ConsoleMessage, Error, Locator, Page, async_playwright, expect

from tests.integration.client.gateway_server import serving, settings_of
from tests.integration.client.hands import AGENT, Hands
from turnwright.client import Budget, Client, Turn
from turnwright.journal.api_keys import Grant, Role
from turnwright.journal.deltas import Delta
from turnwright.journal.driver import Driver
from turnwright.journal.entries import Entry
from turnwright.journal.store import Journal
from turnwright.journal.store_keys import create_key
from turnwright.journal.transact.deltas import write_deltas
from turnwright.journal.transact.thread_script import Terms

CHROMIUM = Path("/usr/bin/chromium")
PICTURES = Path(__file__).resolve().parents[3] / "build" / "console"
WIDE = {"width": 1280, "height": 800}
PHONE = {"width": 360, "height": 740}
NARROWEST = {"width": 320, "height": 640}
PATIENCE_MS = 45_000
LOOK_S = 0.02


@asynccontextmanager
async def chromium() -> AsyncIterator[Browser]:
    """Debian's browser, without a window."""
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        try:
            yield browser
        finally:
            await browser.close()


@dataclass
class Stage:
    """One journal, its gateway, and pages that are open on it.

    `hands` may do everything, `asking` must ask before it calls a tool; `complaints` is what scripts say is wrong.
    """

    driver: Driver
    journal_url: str
    client: Client
    hands: Hands
    asking: Hands
    browser: Browser
    complaints: list[str] = field(default_factory=list)
    url: str = ""
    _gateway: AsyncExitStack = field(default_factory=AsyncExitStack)

    async def start(self) -> None:
        """Serve, on the port of before if there was one."""
        port = int(self.url.rpartition(":")[2]) if self.url else 0
        settings = settings_of(self.journal_url, heartbeat_s=1, temporal_ui="http://127.0.0.1:8233/namespaces/default")
        self.url = await self._gateway.enter_async_context(serving(settings, port))

    async def stop(self) -> None:
        """Serve nothing."""
        await self._gateway.aclose()

    async def token(self, role: Role = "admin", tenant: str = "acme") -> str:
        """A key for the tenant."""
        return (await create_key(self.driver, tenant, Grant(name="olga", role=role, user="ann"))).token

    async def page(self, at: str = "inbox", token: str | None = None, **context: Any) -> Page:  # noqa: ANN401
        """The console, signed in, at one of its pages."""
        made = await self.browser.new_context(**{"viewport": WIDE, "color_scheme": "dark", **context})
        made.set_default_timeout(PATIENCE_MS)
        page = await made.new_page()
        page.on("pageerror", self._thrown)
        page.on("console", self._logged)
        await page.goto(f"{self.url}/console/#/{at}")
        await page.get_by_label("API key or token").fill(await self.token() if token is None else token)
        await page.get_by_role("button", name="Open the console").click()
        await expect(page.get_by_role("navigation", name="Pages")).to_be_visible()
        return page

    async def submit(self, text: str = "Book a flight to Oslo", session: str = "trip", thread: str = "main") -> Turn:
        """A queued turn of a session, which is made if need be."""
        place = self.client.session("ann", session)
        await place.create(title=f"The {session} of Ann", exist_ok=True)
        return await place.submit(text, agent=AGENT, thread=thread)

    async def asked(self, arguments: dict[str, object] | None = None, session: str = "trip") -> Turn:
        """A turn that waits for somebody to allow its call."""
        turn = await self.submit(session=session)
        await self.asking.want_tool(turn, arguments=arguments or {"amount": 120, "to": "ACME Airlines"})
        return turn

    async def asked_below(self, session: str = "trip") -> Turn:
        """A turn that waits for its subagent, which waits for somebody to allow its call."""
        turn = await self.submit(session=session)
        child = await self.client.turn(await self.hands.open_child(turn))
        await self.asking.want_tool(child, arguments={"amount": 120, "to": "ACME Airlines"})
        return turn

    async def lost(self, session: str = "trip") -> Turn:
        """A turn whose worker died in the middle of its call."""
        hold = await self.driver.hold_presence(f"w-mortal-{session}", {}, lease_s=60)
        turn = await self.submit(session=session)
        await Hands(Journal(self.driver, Terms(presence=hold.name)), hold.name).call_tool(turn)
        await hold.release()
        await self.hands.claim(turn)
        return turn

    async def over_budget(self, session: str = "trip") -> Turn:
        """A turn that used what it may use."""
        place = self.client.session("ann", session)
        await place.create(exist_ok=True)
        turn = await place.submit("Compare all flights", agent=AGENT, budget=Budget(steps=1))
        await self.hands.finish_tool(turn, await self.hands.call_tool(turn))
        await self.hands.look(turn, newest=True)
        return turn

    async def failed(self, session: str = "trip") -> Turn:
        """A turn whose provider refused the key."""
        turn = await self.submit(session=session)
        await self.hands.ask_model(turn)
        await self.hands.fail_model(turn, "auth")
        await self.hands.look(turn, newest=True)
        return turn

    async def speak(self, turn: Turn, n: int, text: str) -> None:
        """The turn's first model call says something, as its `n`th words."""
        thread = await self.hands.journal.thread(turn.key)
        assert thread is not None
        said = Delta(turn_id=turn.id, step=1, ordinal=1, index=0, kind="text", text=text)
        await self.driver.write(partial(write_deltas, turn.key, thread.id, n, [said]))

    async def entries(self, turn: Turn, kind: str) -> Sequence[Entry]:
        """The turn's entries of one type, once there is one."""
        async with asyncio.timeout(PATIENCE_MS / 1000):
            while True:
                page = await self.client.session("ann", turn.key.session).thread(AGENT, turn.key.thread).history()
                found = [entry for entry in page if entry.turn_id == turn.id and entry.type == kind]
                if found:
                    return found
                await asyncio.sleep(LOOK_S)

    def _thrown(self, error: Error) -> None:
        self.complaints.append(str(error))

    def _logged(self, message: ConsoleMessage) -> None:
        """Answers other than 200 are logged by the browser itself; they are no script's fault."""
        if message.type == "error" and "Failed to load resource" not in message.text:
            self.complaints.append(message.text)


def address_of(turn: Turn) -> str:
    """Where the console shows the turn's thread."""
    key = turn.key
    named = {"user": key.user or "", "session": key.session, "agent": key.agent, "thread": key.thread}
    return "thread?" + urlencode(named | {"turn": turn.id})


def card(page: Page, kind: str = "") -> Locator:
    """A card of the inbox."""
    return page.get_by_role("article").filter(has_text=kind) if kind else page.get_by_role("article")


async def photograph(page: Page, name: str) -> None:
    """Keep a picture."""
    PICTURES.mkdir(parents=True, exist_ok=True)
    await page.screenshot(path=PICTURES / f"{name}.png")
