"""A real Prometheus that watches processes of a test, with the very rules and configuration of `deploy/`.

Rule: only addresses, intervals and durations are others. A rule's own timing is proven by `promtool`, in
`tests/unit/deploy`; here an alert fires within seconds, of a fault that is made.
"""

import asyncio
import json
import math
import re
import shutil
from collections.abc import AsyncIterator, Collection, Iterable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import httpx2
import pytest
import yaml

from turnwright.worker import loopback
from turnwright.worker.child import Child

DEPLOY: Final = Path(__file__).resolve().parents[3] / "deploy"
RULES: Final = DEPLOY / "prometheus" / "alerts.yml"
DASHBOARD: Final = DEPLOY / "grafana" / "turnwright.json"
WINDOW_S: Final = 15
# What is waited for, and looked at, in minutes and more, in seconds.
SOONER: Final = (
    (r"\bfor: \d+m\b", "for: 1s"),
    (r"\[\d+m\]", f"[{WINDOW_S}s]"),
    (r"> (60|600|86400)\b", "> 3"),
)
ALERT_S_MAX: Final = 90
LOOK_S: Final = 0.25


@dataclass(frozen=True)
class Prometheus:
    """One that runs; `http` asks it."""

    http: httpx2.AsyncClient

    @classmethod
    @asynccontextmanager
    async def watching(
        cls, folder: Path, targets: Mapping[str, Iterable[int]], alertmanager: int | None = None
    ) -> "AsyncIterator[Prometheus]":
        """It looks each second at ports of this machine, by job, and tells an Alertmanager on that port."""
        program = shutil.which("prometheus")
        if program is None:
            pytest.skip("Prometheus is not here; on Debian `apt-get install prometheus` brings it")
        folder.mkdir()
        (folder / "alerts.yml").write_text(sooner(RULES.read_text("utf-8")), "utf-8")
        (folder / "prometheus.yml").write_text(yaml.safe_dump(configuration(targets, alertmanager)), "utf-8")
        port = loopback.find_free()
        command = [program, f"--config.file={folder}/prometheus.yml", f"--storage.tsdb.path={folder}/data"]
        child = Child(
            [*command, f"--web.listen-address={loopback.HOST}:{port}", "--log.level=warn"], log_file=folder / "log"
        )
        try:
            async with httpx2.AsyncClient(base_url=f"http://{loopback.HOST}:{port}") as http:
                await _until_ready(child, http)
                yield cls(http)
        finally:
            child.kill()

    async def firing(self) -> set[str]:
        """The alerts that fire now."""
        found = await self._ask("alerts")
        return {alert["labels"]["alertname"] for alert in found["alerts"] if alert["state"] == "firing"}

    async def until_firing(self, *names: str) -> None:
        """Wait until all of these fire."""
        await self._until(lambda firing: firing.issuperset(names), f"{names} do not fire")

    async def until_quiet(self, *but: str) -> None:
        """Wait until nothing fires but these, which do."""
        await self._until(lambda firing: firing == set(but), "something else fires")

    async def until_true(self, query: str) -> None:
        """Wait until a query finds something."""
        async with asyncio.timeout(ALERT_S_MAX):
            while not (await self._ask("query", query=query))["result"]:
                await asyncio.sleep(LOOK_S)

    async def values(self, query: str, since_s: float, until_s: float) -> list[float]:
        """All that a query found in this time, a second apart, but for what is no number."""
        asked = {"query": query, "start": since_s, "end": until_s, "step": 1}
        series = (await self._ask("query_range", **asked))["result"]
        found = [float(value) for one in series for _, value in one["values"]]
        return [value for value in found if not math.isnan(value)]

    async def until_shown(self, queries: Iterable[tuple[str, str]], since_s: float, but: Collection[str]) -> None:
        """Wait until each of these, by title, has found something above zero since then; those in `but`, anything."""
        left = list(queries)
        try:
            async with asyncio.timeout(ALERT_S_MAX):
                while left := [one for one in left if not await self._shows(*one, since_s, but)]:
                    await asyncio.sleep(LOOK_S)
        except TimeoutError:
            raise AssertionError(f"nothing is shown of {left}") from None

    async def _shows(self, title: str, query: str, since_s: float, but: Collection[str]) -> bool:
        values = await self.values(query, since_s, await self.time_s())
        return bool(values) and (title in but or max(values) > 0)

    async def time_s(self) -> float:
        """Its clock."""
        return float((await self._ask("query", query="time()"))["result"][1])

    async def _until(self, holds: Any, otherwise: str) -> None:  # noqa: ANN401 - a condition on what fires
        firing: set[str] = set()
        try:
            async with asyncio.timeout(ALERT_S_MAX):
                while not holds(firing := await self.firing()):
                    await asyncio.sleep(LOOK_S)
        except TimeoutError:
            raise AssertionError(f"{otherwise}: {sorted(firing)} do") from None

    async def _ask(self, what: str, **asked: object) -> Any:  # noqa: ANN401 - JSON
        answer = await self.http.get(f"/api/v1/{what}", params={name: str(value) for name, value in asked.items()})
        assert answer.status_code == httpx2.codes.OK, answer.text
        return answer.json()["data"]


def sooner(rules: str) -> str:
    """The rules with durations of a test; a duration that is not known here would make the test wait for ever."""
    for pattern, instead in SOONER:
        rules, count = re.subn(pattern, instead, rules)
        assert count, f"no rule has {pattern} any more"
    return rules


def configuration(targets: Mapping[str, Iterable[int]], alertmanager: int | None) -> dict[str, Any]:
    """That of the compose stack, with these ports for the addresses of its services. Temporal's own is left out."""
    told: dict[str, Any] = yaml.safe_load((DEPLOY / "compose" / "prometheus" / "prometheus.yml").read_text("utf-8"))
    told["global"] = dict.fromkeys(told["global"], "1s")
    jobs = {job["job_name"]: job for job in told["scrape_configs"]}
    assert set(jobs) == {*targets, "temporal"}
    for name, ports in targets.items():
        assert jobs[name].pop("dns_sd_configs"), "the addresses are of the service's name"
        jobs[name]["static_configs"] = [{"targets": [f"{loopback.HOST}:{port}" for port in ports]}]
    (told_to,) = told["alerting"]["alertmanagers"]
    assert told_to["static_configs"], "the address is the service's name"
    told_to["static_configs"] = [{"targets": [] if alertmanager is None else [f"{loopback.HOST}:{alertmanager}"]}]
    return told | {"scrape_configs": [jobs[name] for name in targets]}


def panels() -> list[tuple[str, str]]:
    """Each query of the dashboard with its panel's title, and a window for Grafana's."""
    dashboard = json.loads(DASHBOARD.read_text("utf-8"))
    return [
        (panel["title"], target["expr"].replace("$__rate_interval", f"{WINDOW_S}s"))
        for panel in dashboard["panels"]
        for target in panel.get("targets", ())
    ]


async def _until_ready(child: Child, http: httpx2.AsyncClient) -> None:
    async with asyncio.timeout(ALERT_S_MAX):
        while child.is_running:
            try:
                if (await http.get("/-/ready")).status_code == httpx2.codes.OK:
                    return
            except httpx2.HTTPError:
                pass
            await asyncio.sleep(LOOK_S)
    raise AssertionError(child.read_tail())
