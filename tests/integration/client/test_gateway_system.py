"""What an operator is told about the machinery, and the console's files."""

from __future__ import annotations

from collections.abc import AsyncIterator

import httpx2
import pytest

from tests.integration.client.asking import http
from tests.integration.client.gateway_server import serving, settings_of
from tests.integration.client.hands import AGENT, Hands
from tests.integration.client.test_gateway_commands import assert_problem, submitted, token
from tests.integration.worker.conftest import run_sql
from turnwright.client import Client
from turnwright.client.gateway.console import FOLDER, assets
from turnwright.journal.driver import Driver

UI = "http://127.0.0.1:8233/namespaces/default"
CHANGE = "UPDATE payloads SET body = $1 WHERE seq = 2 AND thread_id = (SELECT id FROM threads WHERE thread = 'main')"


@pytest.fixture
async def url(driver: Driver, journal_url: str) -> AsyncIterator[str]:
    async with serving(settings_of(journal_url, temporal_ui=UI)) as url:
        yield url


@pytest.fixture
async def ask(url: str, driver: Driver) -> AsyncIterator[httpx2.AsyncClient]:
    async with http(url, await token(driver, "operator")) as ask:
        yield ask


async def test_an_operator_sees_workers_and_what_is_live_of_the_tenant_alone(
    url: str, driver: Driver, ask: httpx2.AsyncClient, client: Client, asking: Hands
) -> None:
    await submitted(ask, "queued")
    waiting = await client.turn((await submitted(ask, "s"))["turn_id"])
    await asking.want_tool(waiting)
    system = (await ask.get("/system")).json()
    assert system["live"] == {"turns_queued": 1, "turns_waiting": 1, "questions_approval": 1}
    assert [(one["label"], one["liveness"], one["agents"]) for one in system["workers"]] == [
        ("hands", "alive", [AGENT])
    ]
    assert (system["workers"][0]["engine"], system["workers"][0]["lease_s"]) == ("cluster/namespace", 60)
    assert (system["store"], system["temporal_ui"], system["more"]) == (driver.dialect, UI, False)
    assert system["schema_version"] == await driver.schema_version()
    async with http(url, await token(driver, "operator", "other")) as other:
        assert (await other.get("/system")).json()["live"] == {}


async def test_a_turn_that_is_cancelled_while_something_runs_is_counted_as_cancelling(
    ask: httpx2.AsyncClient, client: Client, hands: Hands
) -> None:
    turn = await client.turn((await submitted(ask))["turn_id"])
    await hands.ask_model(turn)
    await turn.cancel()
    assert (await ask.get("/system")).json()["live"]["turns_cancelling"] == 1


async def test_a_thread_that_nobody_carries_on_is_an_orphan_of_its_own_tenant(
    url: str, driver: Driver, ask: httpx2.AsyncClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("turnwright.client.gateway.system.QUIET_S", 0)
    turn_id = (await submitted(ask))["turn_id"]
    (orphan,) = (await ask.get("/system")).json()["orphans"]
    assert (orphan["turn_id"], orphan["key"]["session"], orphan["why"]) == (turn_id, "s", "stalled")
    async with http(url, await token(driver, "operator", "other")) as other:
        assert (await other.get("/system")).json()["orphans"] == []


async def test_the_tenants_part_of_the_journal_is_measured(
    url: str, driver: Driver, ask: httpx2.AsyncClient, client: Client, hands: Hands
) -> None:
    await hands.finish(await client.turn((await submitted(ask))["turn_id"]))
    sizes = (await ask.get("/system/journal")).json()
    assert (sizes["sessions"], sizes["threads"], sizes["turns_completed"], sizes["turns_new"]) == (1, 1, 1, 1)
    assert sizes["entries"] > 5
    assert sizes["entry_bytes"] > 100
    async with http(url, await token(driver, "operator", "other")) as other:
        assert set((await other.get("/system/journal")).json().values()) == {0}


async def test_a_session_is_proven_and_a_changed_entry_is_named(
    ask: httpx2.AsyncClient, client: Client, hands: Hands, journal_url: str
) -> None:
    await hands.finish(await client.turn((await submitted(ask))["turn_id"]))
    proof = (await ask.get("/sessions/s/proof")).json()
    assert (proof["threads"], proof["findings"]) == (2, [])
    assert proof["entries"] > 5
    await run_sql(journal_url, CHANGE, b"{}")
    (found, *_) = (await ask.get("/sessions/s/proof")).json()["findings"]
    assert (found["seq"], AGENT in found["where"]) == (2, True)
    assert_problem(await ask.get("/sessions/none/proof"), 404, "not_found")


async def test_temporals_ids_of_a_thread_are_told(ask: httpx2.AsyncClient, client: Client, hands: Hands) -> None:
    turn = await client.turn((await submitted(ask))["turn_id"])
    path = f"/sessions/s/threads/{AGENT}/main/workflows"
    assert (await ask.get(path)).json()["turn"] is None
    await hands.claim(turn)
    found = (await ask.get(path)).json()
    assert found["thread"].startswith("tw/")
    assert turn.id[:10] in found["turn"]
    assert found["temporal_ui"] == UI


@pytest.mark.parametrize(
    "path", ["/system", "/system/journal", "/sessions/s/proof", f"/sessions/s/threads/{AGENT}/main/workflows"]
)
async def test_a_caller_is_refused(url: str, driver: Driver, path: str) -> None:
    async with http(url, await token(driver, "caller")) as ask:
        assert_problem(await ask.get(path), 403, "forbidden")


async def test_the_console_is_served_whole_and_lets_nothing_else_in(url: str) -> None:
    async with httpx2.AsyncClient(base_url=url) as ask:
        for beginning in ("/", "/console"):
            moved = await ask.get(beginning)
            assert (moved.status_code, moved.headers["location"]) == (307, "./console/")
        page = await ask.get("/console/")
        assert "text/html" in page.headers["content-type"]
        for name, asset in assets().items():
            answer = await ask.get(f"/console/{name}")
            assert (answer.status_code, answer.content) == (200, (FOLDER / name).read_bytes())
            policy = answer.headers["content-security-policy"]
            assert "default-src 'self'" in policy
            assert "unsafe" not in policy
            again = await ask.get(f"/console/{name}", headers={"If-None-Match": asset.tag})
            assert (again.status_code, again.content) == (304, b"")
        for strange in ("../../settings.py", "%2e%2e/gateway/app.py", "none.js", "style"):
            assert_problem(await ask.get(f"/console/{strange}"), 404, "no_such_path")
