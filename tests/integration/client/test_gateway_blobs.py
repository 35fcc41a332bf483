"""Pictures and files that agents made, as they are read over HTTP."""

from __future__ import annotations

import httpx2

from tests.integration.client.asking import http
from tests.integration.client.gateway_server import serving, settings_of
from tests.integration.client.hands import AGENT, Hands
from tests.integration.client.test_gateway_commands import assert_problem, submitted, token
from turnwright.client import Client
from turnwright.journal.driver import Driver

PAGE = b"<script>alert(1)</script>\x00\xff"


async def test_a_file_is_read_as_it_is_from_its_own_session_until_it_is_erased(
    driver: Driver, journal_url: str, client: Client, hands: Hands
) -> None:
    async with serving(settings_of(journal_url)) as url, http(url, await token(driver, "admin")) as ask:
        turn = await client.turn((await submitted(ask))["turn_id"])
        await submitted(ask, "other")
        name = await hands.draw(turn, PAGE, "text/html")
        read = await ask.get(f"/sessions/s/blobs/{name}")
        assert (read.status_code, read.content) == (httpx2.codes.OK, PAGE)
        # Whatever it is, no browser shows it as a page of the gateway.
        assert read.headers["content-type"] == "application/octet-stream"
        assert read.headers["content-disposition"] == "attachment"
        assert read.headers["x-content-type-options"] == "nosniff"
        for path in (f"other/blobs/{name}", f"none/blobs/{name}", "s/blobs/%27%20OR%201"):
            assert_problem(await ask.get(f"/sessions/{path}"), 404, "not_found")
        entries = (await ask.get(f"/sessions/s/threads/{AGENT}/main/entries")).json()
        [answered] = [entry["seq"] for entry in entries if entry["type"] == "model.responded"]
        assert (await ask.post(f"/sessions/s/threads/{AGENT}/main/erase", json={"seq": answered})).is_success
        assert_problem(await ask.get(f"/sessions/s/blobs/{name}"), 404, "not_found")
