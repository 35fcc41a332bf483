"""What was said before a command's name, and the Temporal of a dev in this folder."""

import fcntl
import os
import stat
from collections.abc import Iterator
from pathlib import Path

import pytest

from turnwright.worker.dev_place import DevInfo, DevPlace, DevRunning, without_password
from turnwright.worker.invocation import Invocation, journal_url_of, with_dev_address
from turnwright.worker.settings import Settings

JOURNAL = "sqlite:///.turnwright/journal.db"
INFO = DevInfo(7, JOURNAL, "127.0.0.1:7777", "http://127.0.0.1:8888")


@pytest.fixture(autouse=True)
def _elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("TEMPORAL_ADDRESS", "TEMPORAL_PROFILE", "TEMPORAL_CONFIG_FILE"):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
def dev() -> Iterator[DevPlace]:
    """A dev that runs here."""
    place = DevPlace()
    place.take()
    place.tell(INFO)
    yield place
    place.release()


def test_flags_of_the_command_win_over_those_before_its_name() -> None:
    invocation = Invocation()
    invocation.given(tenant="before", task_queue="before", log_level=None)
    settings = invocation.settings(tenant="command", task_queue=None)
    assert (settings.tenant, settings.task_queue, settings.log_level) == ("command", "before", "info")


def test_commands_are_recorded_as_those_of_the_system_s_user(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LOGNAME", "ann")
    assert Invocation().client_settings().principal == "ann"


def test_the_principal_can_be_set(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LOGNAME", "root")
    monkeypatch.setenv("TURNWRIGHT_PRINCIPAL", "ann@example.com")
    assert Invocation().client_settings().principal == "ann@example.com"


def test_a_user_without_an_account_is_recorded_by_number(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("LOGNAME", "USER", "LNAME", "USERNAME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(os, "getuid", lambda: 4_000_000_000)
    assert Invocation().client_settings().principal == "uid 4000000000"


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        (None, None),
        ("postgresql://u@h/d", "postgresql://u@h/d"),
        ("a/b.db", "sqlite:///a/b.db"),
        ("~nobody-of-this-name/b.db", "sqlite:///~nobody-of-this-name/b.db"),
        ("/a/b.db", "sqlite:////a/b.db"),
    ],
)
def test_a_journal_may_be_written_as_a_path(written: str | None, meant: str | None) -> None:
    assert journal_url_of(written) == meant


def test_nobody_else_on_the_machine_reads_the_folder_of_a_dev(dev: DevPlace) -> None:
    assert stat.S_IMODE(dev.folder.stat().st_mode) == 0o700


def test_commands_find_the_temporal_of_a_dev_in_their_folder(dev: DevPlace) -> None:
    found = with_dev_address(Settings.load())
    assert (found.temporal_address, found.temporal_environment) == ("127.0.0.1:7777", False)


@pytest.mark.parametrize(
    "flags",
    [
        {"temporal_address": "elsewhere:7233"},
        {"temporal_profile": "prod"},
        {"journal_url": "sqlite:///other.db"},
    ],
)
def test_what_was_said_explicitly_wins_over_a_dev(dev: DevPlace, flags: dict[str, str]) -> None:
    settings = Settings.load(**flags)
    assert with_dev_address(settings) == settings


def test_temporal_s_own_configuration_wins_over_a_dev(dev: DevPlace, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TEMPORAL_ADDRESS", "elsewhere:7233")
    settings = Settings.load()
    assert with_dev_address(settings) == settings


def test_a_dev_that_ended_is_found_no_more(dev: DevPlace) -> None:
    dev.release()
    settings = Settings.load()
    assert with_dev_address(settings) == settings
    assert dev.running() is None


def test_what_a_killed_dev_left_behind_does_not_count(dev: DevPlace) -> None:
    left = (dev.folder / "dev.json").read_text()
    dev.release()
    (dev.folder / "dev.json").write_text(left)
    assert DevPlace().running() is None


def test_a_folder_has_one_dev_at_a_time(dev: DevPlace) -> None:
    with pytest.raises(DevRunning, match=r"process 7, http://127\.0\.0\.1:8888"):
        DevPlace().take()
    dev.release()
    second = DevPlace()
    second.take()
    second.release()


def test_a_folder_that_is_looked_at_is_not_made(tmp_path: Path) -> None:
    assert DevPlace().running() is None
    assert list(tmp_path.iterdir()) == []


def test_those_who_ask_at_once_whether_a_dev_runs_do_not_take_each_other_for_one(dev: DevPlace) -> None:
    left = (dev.folder / "dev.json").read_text()
    dev.release()
    (dev.folder / "dev.json").write_text(left)
    with (dev.folder / "dev.lock").open() as lock:
        fcntl.flock(lock, fcntl.LOCK_SH)
        assert DevPlace().running() is None


@pytest.mark.parametrize(
    ("url", "shown"),
    [
        ("sqlite:///.turnwright/journal.db", "sqlite:///.turnwright/journal.db"),
        ("sqlite:////a:b@c/d.db", "sqlite:////a:b@c/d.db"),
        ("postgresql://ann:se:cret@host:5432/db", "postgresql://ann@host:5432/db"),
        ("postgresql://ann@host/db?schema=x", "postgresql://ann@host/db?schema=x"),
        ("postgresql:///db?password=secret&host=/run", "postgresql:///db?host=%2Frun"),
        ("postgresql://host/db?sslpassword=secret&sslmode=require", "postgresql://host/db?sslmode=require"),
        ("postgresql://host/db", "postgresql://host/db"),
    ],
)
def test_the_place_of_a_dev_holds_no_password(url: str, shown: str) -> None:
    assert without_password(url) == shown


def test_git_does_not_see_what_dev_keeps(dev: DevPlace) -> None:
    assert (dev.folder / ".gitignore").read_text() == "*\n"
