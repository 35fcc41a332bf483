"""Whether a gateway lives and whether it can serve, told to everybody, and nothing else."""

from __future__ import annotations

import asyncio

import httpx2
import pytest
import structlog.testing
from fastapi import FastAPI

from tests.integration.client.gateway_server import running, settings_of
from tests.integration.client.test_gateway_commands import assert_problem
from turnwright.client.gateway import pulse
from turnwright.client.gateway.app import create_app
from turnwright.client.gateway.pulse import Pulse
from turnwright.client.gateway.serve import server_of
from turnwright.journal.driver import Driver
from turnwright.journal.store import Journal


async def test_a_gateway_is_ready_while_its_journal_answers_and_lives_without(
    driver: Driver, journal_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pulse, "FRESH_S", 0)
    server = server_of(settings_of(journal_url))
    async with running(server) as url, httpx2.AsyncClient(base_url=url) as anybody:
        assert [(await anybody.get(path)).text for path in ("/livez", "/readyz")] == ["alive\n", "ready\n"]
        assert isinstance(server.config.app, FastAPI)
        await server.config.app.state.desk.journal.close()
        with structlog.testing.capture_logs() as logs:
            assert_problem(await anybody.get("/readyz"), 503, "store_unavailable")
        assert not [line for line in logs if "exc_info" in line], "probes come every few seconds"
        assert (await anybody.get("/livez")).status_code == httpx2.codes.OK


async def test_however_many_ask_the_journal_is_asked_once_in_a_while(
    driver: Driver, monkeypatch: pytest.MonkeyPatch
) -> None:
    journal, asked = Journal(driver), 0
    journal_id = journal.journal_id

    async def counted() -> str:
        nonlocal asked
        asked += 1
        return await journal_id()

    monkeypatch.setattr(journal, "journal_id", counted)
    monkeypatch.setattr(pulse, "FRESH_S", 60)
    told = Pulse(journal)
    await asyncio.gather(*(told.check() for _ in range(50)))
    assert asked == 1


def test_every_route_has_a_name_and_a_summary_of_its_own() -> None:
    described = create_app(settings_of("sqlite:///journal.db")).openapi()
    operations = [operation for methods in described["paths"].values() for operation in methods.values()]
    names = [operation["operationId"] for operation in operations]
    assert len(set(names)) == len(names)
    assert all(name.isalpha() for name in names), names
    assert all(operation["summary"].endswith((".", ";")) for operation in operations), operations
