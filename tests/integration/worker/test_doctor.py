"""The doctor tells a system that is well from one that is not, and says what to do."""

from __future__ import annotations

import asyncio
import base64
import time
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from temporalio.api.namespace.v1 import NamespaceInfo

from tests.integration.client.program import NOBODY_THERE
from turnwright.journal import store_sealing
from turnwright.journal.commands import CreateSession
from turnwright.journal.driver import Driver
from turnwright.journal.drivers import open_driver
from turnwright.journal.ids import SessionKey
from turnwright.journal.snapshots.opening import open_snapshots
from turnwright.journal.store import Journal
from turnwright.worker.doctor.agents import look_at_agents
from turnwright.worker.doctor.files import look_at_files
from turnwright.worker.doctor.findings import Finding, Verdict
from turnwright.worker.doctor.journal import CLOCK_APART_S_MAX, _judged, look_at_journal
from turnwright.worker.doctor.snapshots import look_at_snapshots
from turnwright.worker.doctor.temporal import BLOB_BYTES_MIN, _limits, look_at_temporal
from turnwright.worker.presence import PresenceKeeper, WorkerInfo
from turnwright.worker.settings import Settings
from turnwright.worker.temporal_server import TemporalServer


async def findings(looked: AsyncIterator[Finding]) -> dict[str, Finding]:
    return {finding.about: finding async for finding in looked}


def verdicts(found: dict[str, Finding]) -> dict[str, Verdict]:
    return {about: finding.verdict for about, finding in found.items()}


async def test_a_journal_that_is_well_but_for_its_missing_workers(driver: Driver, journal_url: str) -> None:
    found = await findings(look_at_journal(Settings(journal_url=journal_url)))
    assert {about for about, verdict in verdicts(found).items() if verdict != "ok"} <= {"workers", "fsync"}
    assert found["workers"].said == "none lives: turns are accepted and wait"
    assert "turnwright worker" in found["workers"].todo


async def test_clocks_that_are_apart_are_seen(
    driver: Driver, journal_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = time.time
    monkeypatch.setattr("turnwright.worker.doctor.journal.time.time", lambda: real() - 10 * CLOCK_APART_S_MAX)
    found = await findings(look_at_journal(Settings(journal_url=journal_url)))
    assert found["clock"].verdict == "warning"
    assert "20 s ahead of" in found["clock"].said


async def test_how_a_journal_is_sealed_is_told(driver: Driver, journal_url: str, tmp_path: Path) -> None:
    keys = tmp_path / "keys"
    sealed = f"{journal_url}{'&' if '?' in journal_url else '?'}keys={keys}"
    names = {name: f"{name} {base64.b64encode(name.encode() * 32).decode()}" for name in "ab"}

    async def told(url: str) -> tuple[Verdict, str]:
        found = (await findings(look_at_journal(Settings(journal_url=url))))["sealing"]
        return found.verdict, found.said

    assert await told(journal_url) == ("ok", "the journal is not sealed")
    keys.write_text(names["a"])
    await create(driver, "in clear")
    assert await told(sealed) == ("warning", "some sessions are not wholly sealed")
    journal = await Journal.open(sealed)
    assert [one async for one in store_sealing.seal(journal)]
    assert await told(sealed) == ("ok", "all of it under the key a")
    assert await told(journal_url) == ("failed", "the journal is sealed and no keys are given")
    keys.write_text(names["b"].replace("b ", "a ", 1))
    assert await told(sealed) == ("failed", "a is another key than the one of that name in use")
    keys.write_text(f"{names['b']}\n{names['a']}")
    assert await told(sealed) == ("warning", "some is under a, an older key")
    keys.write_text(names["b"])
    assert await told(sealed) == ("failed", "the journal is sealed and the keys a are not given")
    await journal.close()
    keys.write_text(names["a"])
    info = WorkerInfo("worker-7", "queue")
    keeper = PresenceKeeper(driver, info, 600, lambda _: None)  # of a process that began before there were keys
    await keeper.start()
    assert await told(sealed) == ("failed", "worker-7 began without keys, and cannot go on with what is sealed")
    await keeper.stop()
    keys.write_text("nonsense")
    assert verdicts(await findings(look_at_journal(Settings(journal_url=sealed)))) == {"journal": "failed"}


async def create(driver: Driver, session: str) -> None:
    await Journal(driver).execute(SessionKey("t", None, session), CreateSession(request_id="create"))


@pytest.mark.bare
async def test_tables_of_an_earlier_version_are_not_looked_into(journal_url: str) -> None:
    driver = open_driver(journal_url)
    await driver.start()
    await driver.migrate(to=1)
    await driver.stop()
    found = await findings(look_at_journal(Settings(journal_url=journal_url)))
    assert verdicts(found)["tables"] == "failed"
    assert "turnwright journal migrate" in found["tables"].todo
    assert "workers" not in found


@pytest.mark.parametrize(
    ("name", "value", "verdict"),
    [
        ("synchronous_commit", "off", "failed"),
        ("synchronous_commit", "remote_apply", "ok"),
        ("fsync", "off", "failed"),
        ("full_page_writes", "off", "failed"),
        ("journal_mode", "delete", "failed"),
        ("journal_mode", "wal", "ok"),
        ("max_connections", "20", "warning"),
        ("max_connections", "100", "ok"),
        ("sqlite_version", "3.40.1", "ok"),
    ],
)
def test_what_a_crash_of_the_store_would_lose_is_judged(name: str, value: str, verdict: Verdict) -> None:
    assert _judged(name, value).verdict == verdict


async def test_a_temporal_that_is_well_and_a_namespace_that_is_not_there(temporal: TemporalServer) -> None:
    there = Settings(temporal_address=temporal.address, temporal_environment=False)
    found = await findings(look_at_temporal(there))
    assert set(verdicts(found).values()) == {"ok"}
    assert found["limits"].said == "it takes 2,048 KiB at once"
    elsewhere = there.model_copy(update={"temporal_namespace": "elsewhere"})
    found = await findings(look_at_temporal(elsewhere))
    assert found["namespace"].verdict == "failed"
    assert "namespace create --namespace elsewhere" in found["namespace"].todo


@pytest.mark.parametrize(
    ("taken", "verdict"), [(2 * 1024 * 1024, "ok"), (BLOB_BYTES_MIN, "ok"), (BLOB_BYTES_MIN - 1, "warning"), (0, "ok")]
)
def test_a_namespace_that_takes_little_at_once_is_told_of(taken: int, verdict: Verdict) -> None:
    assert _limits(NamespaceInfo.Limits(blob_size_limit_error=taken)).verdict == verdict


async def test_keys_for_temporal_that_cannot_be_read_are_a_finding_like_any_other(tmp_path: Path) -> None:
    there = Settings(temporal_address=NOBODY_THERE, temporal_environment=False, temporal_keys=tmp_path / "keys")
    found = await findings(look_at_temporal(there))
    assert verdicts(found) == {"temporal": "failed"}
    assert "temporal_keys" in found["temporal"].todo


async def test_a_temporal_that_does_not_answer() -> None:
    away = Settings(temporal_address=NOBODY_THERE, temporal_environment=False)
    found = await findings(look_at_temporal(away))
    assert verdicts(found) == {"temporal": "failed"}


async def test_agents_that_cannot_be_loaded_and_such_that_can() -> None:
    targets = ("tests.no_such_module:registry", "tests.integration.runtime.agents:AGENTS")
    bad, good = (Settings(agents=target) for target in targets)
    found = await asyncio.gather(findings(look_at_agents(bad)), findings(look_at_agents(good)))
    assert [verdicts(one) for one in found] == [{"agents": "failed"}, {"agents": "ok"}]


async def test_a_place_of_snapshots_that_answers_one_that_does_not_and_none(tmp_path: Path) -> None:
    (tmp_path / "taken").touch()
    places = (f"file://{tmp_path}/snapshots", f"file://{tmp_path}/taken", "file://host/folder", None)
    found = [await findings(look_at_snapshots(Settings(snapshots=place))) for place in places]
    assert [verdicts(one) for one in found] == [
        {"snapshots": "ok"}, {"snapshots": "warning"}, {"snapshots": "failed"}, {},
    ]  # fmt: skip


async def test_a_place_of_snapshots_that_is_another_journals(tmp_path: Path, driver: Driver, journal_url: str) -> None:
    there = Settings(snapshots=f"file://{tmp_path}/snapshots", journal_url=journal_url)
    async with open_snapshots(f"file://{tmp_path}/snapshots") as store:
        assert verdicts(await findings(look_at_snapshots(there))) == {"snapshots": "ok"}
        await store.owner("another")
        found = await findings(look_at_snapshots(there))
    assert verdicts(found) == {"snapshots": "warning"}
    assert "those of journal another" in found["snapshots"].said


@pytest.mark.bare
async def test_what_the_store_keeps_and_its_clock_are_told_before_its_tables_are_there(bare_postgres_url: str) -> None:
    found = await findings(look_at_journal(Settings(journal_url=bare_postgres_url)))
    assert {"synchronous_commit", "clock", "tables"} <= found.keys()
    assert found["tables"].verdict == "failed"


async def test_files_that_settings_name_are_looked_at_and_who_may_read_keys(tmp_path: Path) -> None:
    keys, rules, in_the_way = tmp_path / "a.keys", tmp_path / "rules.json", tmp_path / "file"
    for file, text in ((keys, "k"), (rules, '{"level": "loud"}'), (in_the_way, "")):
        file.write_text(text)
    keys.chmod(0o644)
    url = f"sqlite:///j.db?keys={keys}"

    def told(transcripts: Path) -> Settings:
        return Settings(journal_url=url, temporal_keys=keys, log_rules=rules, transcripts=transcripts)

    wrong = await findings(look_at_files(told(in_the_way / "inner")))
    assert verdicts(wrong) == {
        "journal keys": "warning", "temporal keys": "warning", "log rules": "warning", "transcripts": "failed",
    }  # fmt: skip
    assert all(finding.todo for finding in wrong.values())
    keys.chmod(0o600)
    rules.write_text('{"level": "error"}')
    mended = await findings(look_at_files(told(tmp_path / "not" / "yet")))
    assert set(verdicts(mended).values()) == {"ok"}
    assert await findings(look_at_files(Settings(journal_url="sqlite:///j.db"))) == {}
