"""The line that a gateway logs of each request: who asked, for what, and the trace of the turn that it is of."""

from __future__ import annotations

from typing import Any

import httpx2
import pytest

from tests.integration.client.asking import http
from tests.integration.client.gateway_server import serving, settings_of
from tests.integration.client.hands import AGENT
from tests.integration.client.test_gateway_commands import submitted, token
from tests.unit.logged import configured, events
from turnwright.client.tracing.ids import TurnIds
from turnwright.journal.driver import Driver
from turnwright.journal.ids import ThreadKey
from turnwright.journal.store import Journal

WHO = {"tenant": "acme", "user": "ann", "session": "s", "agent": AGENT}
THREAD = ThreadKey("acme", "ann", AGENT, "s", "main").canonical


@pytest.mark.usefixtures("logs_restored")
async def test_a_request_is_logged_with_who_asked_and_what_for(driver: Driver, journal_url: str) -> None:
    out = configured()
    async with serving(settings_of(journal_url)) as url:
        async with http(url, await token(driver, "caller")) as ask:
            turn = (await submitted(ask))["turn_id"]
            for path in ("/sessions/s", f"/sessions/s/threads/{AGENT}/main", f"/turns/{turn}", "/turns/t-0"):
                await ask.get(path)
        async with httpx2.AsyncClient(base_url=url) as stranger:
            await stranger.get("/v1/sessions/s")
    trace = f"{TurnIds(await Journal(driver).journal_id(), turn).trace:032x}"
    of_turn = WHO | {"thread": THREAD, "turn": turn, "trace_id": trace}
    of_session = {name: value for name, value in WHO.items() if name != "agent"}
    lines = [line for line in events(out) if line["event"] == "request"]
    assert [line.pop("principal", None) for line in lines] == ["caller of acme"] * 6 + [None]
    assert [about(line) for line in lines] == [
        of_session, of_turn, of_session, WHO | {"thread": THREAD}, of_turn, {"tenant": "acme"}, {},
    ]  # fmt: skip


def about(line: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in line.items() if name in {*WHO, "thread", "turn", "trace_id"}}
