"""Alerts reach somebody: Prometheus tells an Alertmanager, started as the compose stack does it, and that a webhook."""

from __future__ import annotations

import asyncio
import json
import os
import shutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import httpx2
import pytest

from tests.faults.harness.prometheus import DEPLOY, LOOK_S, Prometheus
from tests.integration.client.receiver import Receiver
from turnwright.worker import loopback
from turnwright.worker.child import Child

PROGRAM = shutil.which("prometheus-alertmanager")  # Debian's name of it
RECEIVED_S_MAX = 90
OF_ONES_OWN = "route: {receiver: mine}\nreceivers: [{name: mine}]\n"

pytestmark = pytest.mark.skipif(
    PROGRAM is None, reason="Alertmanager is not here; on Debian `apt-get install prometheus-alertmanager` brings it"
)


@contextmanager
def alertmanager(folder: Path, port: int, environment: Mapping[str, str]) -> Iterator[None]:
    """One that runs, its own folder's `start.sh` the one of the compose stack."""
    assert PROGRAM is not None
    folder.mkdir(exist_ok=True)
    shutil.copy(DEPLOY / "compose" / "alertmanager" / "start.sh", folder)
    (folder / "alertmanager").symlink_to(PROGRAM)
    where = {"PATH": f"{folder}:{os.environ['PATH']}", "TMPDIR": str(folder.parent)}
    listening = f"--web.listen-address={loopback.HOST}:{port}"
    command = ["/bin/sh", str(folder / "start.sh"), f"--storage.path={folder}/data", listening]
    child = Child(command, env={**where, **environment}, log_file=folder / "log")
    try:
        yield
    finally:
        child.kill()


async def receivers(port: int) -> list[str]:
    """The names of who may be told, once it answers."""
    async with asyncio.timeout(RECEIVED_S_MAX), httpx2.AsyncClient(base_url=f"http://{loopback.HOST}:{port}") as http:
        while True:
            try:
                return [one["name"] for one in (await http.get("/api/v2/receivers")).json()]
            except httpx2.HTTPError:
                await asyncio.sleep(LOOK_S)


async def test_an_alert_that_fires_reaches_the_webhook_with_what_to_do(tmp_path: Path) -> None:
    port, nobody, receiver = loopback.find_free(), loopback.find_free(), Receiver()
    targets = {"turnwright-worker": [nobody], "turnwright-gateway": [nobody]}
    async with receiver.listening() as url:
        with alertmanager(tmp_path / "manager", port, {"ALERTS_WEBHOOK_URL": f"{url}/it's?a=1#b"}):
            assert await receivers(port) == ["webhook"]
            async with Prometheus.watching(tmp_path / "prometheus", targets, alertmanager=port) as prometheus:
                await prometheus.until_firing("TurnwrightProcessDown")
                async with asyncio.timeout(RECEIVED_S_MAX):
                    while "TurnwrightProcessDown" not in (told := alerts(receiver)):
                        await asyncio.sleep(LOOK_S)
    assert {one.path for one in receiver.posted} == {"/it's"}
    assert told["TurnwrightProcessDown"]["runbook"]


async def test_without_a_webhook_it_is_said_that_nobody_is_told(tmp_path: Path) -> None:
    port = loopback.find_free()
    with alertmanager(tmp_path / "manager", port, {"ALERTS_WEBHOOK_URL": ""}):
        assert await receivers(port) == ["webhook"]
        assert "ALERTS_WEBHOOK_URL is not set: alerts are sent to nobody" in (tmp_path / "manager" / "log").read_text(
            "utf-8"
        )


async def test_a_configuration_of_ones_own_is_taken_instead(tmp_path: Path) -> None:
    port, folder = loopback.find_free(), tmp_path / "manager"
    folder.mkdir()
    (folder / "alertmanager.yml").write_text(OF_ONES_OWN, "utf-8")
    with alertmanager(folder, port, {"ALERTS_WEBHOOK_URL": "https://alerts.example.com"}):
        assert await receivers(port) == ["mine"]


def alerts(receiver: Receiver) -> dict[str, dict[str, str]]:
    """What came: each alert's annotations by its name."""
    told = [alert for one in receiver.posted for alert in json.loads(one.body)["alerts"]]
    return {alert["labels"]["alertname"]: alert["annotations"] for alert in told}
