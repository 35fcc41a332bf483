import os
import re
from pathlib import Path

import pytest

from tests.unit.source_tree import ROOT
from turnwright.worker.settings import Settings, SettingsError
from turnwright.worker.settings_environment import check_environment


@pytest.fixture(autouse=True)
def _empty_surroundings(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    for name in [name for name in os.environ if name.upper().startswith("TURNWRIGHT_")]:
        monkeypatch.delenv(name)


def write_file(text: str, name: str = "turnwright.toml") -> None:
    Path(name).write_text(text, encoding="utf-8")


def test_without_any_configuration_everything_has_a_default() -> None:
    settings = Settings.load()
    assert settings.journal_url == "sqlite:///.turnwright/journal.db"
    assert settings.journal_file == Path(".turnwright/journal.db")
    assert (settings.tenant, settings.task_queue) == ("default", None)
    assert settings.temporal_address is None
    assert settings.heartbeat_interval_s == 4


def test_a_flag_wins_over_the_environment_which_wins_over_the_file(monkeypatch: pytest.MonkeyPatch) -> None:
    write_file("stall_s = 11\nlease_s = 12\nsticky_timeout_s = 13\n")
    monkeypatch.setenv("TURNWRIGHT_STALL_S", "21")
    monkeypatch.setenv("TURNWRIGHT_LEASE_S", "22")
    settings = Settings.load(stall_s=31)
    assert (settings.stall_s, settings.lease_s, settings.sticky_timeout_s) == (31, 22, 13)


def test_a_flag_that_was_not_given_and_an_empty_variable_change_nothing(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    write_file('tenant = "from the file"')
    monkeypatch.setenv("TURNWRIGHT_TENANT", "")
    assert Settings.load(tenant=None).tenant == "from the file"


@pytest.mark.parametrize("way", ["flag", "variable"])
def test_a_named_file_is_read_instead_of_the_one_in_the_working_folder(
    way: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_file('tenant = "here"')
    write_file('tenant = "named"', "other.toml")
    flags = {"config": "other.toml"} if way == "flag" else {}
    if way == "variable":
        monkeypatch.setenv("TURNWRIGHT_CONFIG", "other.toml")
    assert Settings.load(**flags).tenant == "named"


def test_a_named_file_that_is_missing_is_an_error() -> None:
    with pytest.raises(SettingsError, match=r"^cannot read the settings file no\.toml: No such file"):
        Settings.load(config="no.toml")


@pytest.mark.parametrize("content", [b"tenant = ", b"tenant = '\xff'"])
def test_a_file_that_is_not_toml_is_an_error_that_names_it(content: bytes) -> None:
    Path("turnwright.toml").write_bytes(content)
    with pytest.raises(SettingsError, match=r"^the settings file turnwright.toml is not valid TOML: "):
        Settings.load()


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("sticky_timeout = 5", "unknown key 'sticky_timeout'; did you mean 'sticky_timeout_s'?"),
        ("xyzzy = 5", "unknown key 'xyzzy'"),
        ("[worker]\nstall_s = 3", "unknown key 'worker'"),
        ("config = 'other.toml'", "unknown key 'config'"),
    ],
)
def test_an_unknown_key_in_the_file_is_an_error_that_names_it(text: str, said: str) -> None:
    write_file(text)
    with pytest.raises(SettingsError) as caught:
        Settings.load()
    assert str(caught.value) == f"turnwright.toml has the {said}"


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("TURNWRIGHT_LEASE", "TURNWRIGHT_LEASE; did you mean 'TURNWRIGHT_LEASE_S'?"),
        ("TURNWRIGHT_FAULTS", "TURNWRIGHT_FAULTS; did you mean 'TURNWRIGHT_FAULT'?"),
        ("turnwright_tenent", "turnwright_tenent; did you mean 'TURNWRIGHT_TENANT'?"),
        ("TURNWRIGHT_XYZZY", "TURNWRIGHT_XYZZY"),
    ],
)
def test_an_unknown_variable_of_ours_is_an_error_that_names_it(
    name: str, said: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(name, "1")
    with pytest.raises(SettingsError) as caught:
        Settings.load()
    assert str(caught.value) == f"the environment has the unknown setting {said}"


@pytest.mark.parametrize(
    "name",
    [
        "TURNWRIGHT_MODEL_API_KEY",
        "TURNWRIGHT_SERVICE_HOST",
        "TURNWRIGHT_SERVICE_PORT_GRPC",
        "TURNWRIGHT_WORKER_SERVICE_PORT",
        "TURNWRIGHT_PORT",
        "TURNWRIGHT_PORT_7233_TCP",
        "TURNWRIGHT_WORKER_PORT_80_TCP_ADDR",
        "TURNWRIGHTS",
        "turnwright_stall_s",
    ],
)
def test_variables_that_are_read_elsewhere_or_set_by_a_platform_are_let_be(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(name, "1")
    Settings.load()


def test_no_setting_looks_like_a_variable_of_a_platform() -> None:
    check_environment({f"TURNWRIGHT_{name.upper()}": "1" for name in Settings.model_fields}, Settings.model_fields)
    with pytest.raises(SettingsError):
        check_environment({f"TURNWRIGHT_{name.upper()}": "1" for name in Settings.model_fields}, {})


def test_an_unknown_flag_is_an_error_that_names_it() -> None:
    with pytest.raises(SettingsError, match=r"--no-such-thing .*not permitted"):
        Settings.load(no_such_thing=1)


def test_a_wrong_value_is_reported_where_it_was_written(monkeypatch: pytest.MonkeyPatch) -> None:
    write_file("stall_s = 0")
    with pytest.raises(SettingsError) as in_file:
        Settings.load()
    monkeypatch.setenv("TURNWRIGHT_STALL_S", "5s")
    with pytest.raises(SettingsError) as in_environment:
        Settings.load()
    with pytest.raises(SettingsError) as in_flag:
        Settings.load(stall_s=-1)
    assert str(in_file.value) == "stall_s in turnwright.toml should be greater than 0, not 0"
    assert str(in_environment.value).startswith("TURNWRIGHT_STALL_S should be a valid number")
    assert str(in_environment.value).endswith("not '5s'")
    assert str(in_flag.value) == "--stall-s should be greater than 0, not -1"


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("journal_url", "mysql://host/db"),
        ("journal_url", "journal.db"),
        ("journal_url", "sqlite:///"),
        ("journal_url", "sqlite:///:memory:"),
        ("temporal_address", "http://localhost:7233"),
        ("temporal_address", "localhost"),
        ("temporal_ui", "javascript:alert(1)"),
        ("temporal_ui", "temporal.example.com"),
        ("agents", "package.module"),
        ("agents", "package/module.py:agents"),
        ("tenant", ""),
        ("lease_s", float("inf")),
        ("lease_s", float("nan")),
        ("workflow_task_timeout_s", 121),
        ("max_concurrent_workflow_tasks", 1),
        ("max_concurrent_activities", 0),
        ("log_format", "xml"),
        ("log_level", "loud"),
    ],
)
def test_a_value_that_cannot_work_is_refused_in_one_line(name: str, value: object) -> None:
    with pytest.raises(SettingsError) as caught:
        Settings.load(**{name: value})
    option = "journal" if name == "journal_url" else name.replace("_", "-")
    assert str(caught.value).startswith(f"--{option} ")
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("journal_url", "sqlite:////var/lib/turnwright/journal.db"),
        ("journal_url", "postgresql://user:secret@host:5432/db"),
        ("temporal_address", "[::1]:7233"),
        ("temporal_ui", "http://127.0.0.1:8233/namespaces/default"),
        ("agents", "package.module:agents"),
        ("drain_timeout_s", 0),
        ("log_level", "INFO"),
    ],
)
def test_a_value_that_works_is_taken(name: str, value: object) -> None:
    Settings.load(**{name: value})


def test_a_sign_of_life_must_come_at_least_twice_before_temporal_gives_an_activity_up() -> None:
    with pytest.raises(SettingsError, match=r"less than or equal to 10, not 11$"):
        Settings.load(heartbeat_interval_s=11)


def test_every_setting_is_used_somewhere() -> None:
    source = "\n".join(path.read_text(encoding="utf-8") for path in (ROOT / "worker").rglob("*.py"))
    unused = [name for name in Settings.model_fields if not re.search(rf"settings\.{name}\b", source)]
    assert unused == []


def test_the_journals_password_appears_neither_in_an_error_nor_in_the_representation() -> None:
    with pytest.raises(SettingsError) as caught:
        Settings.load(journal_url="mysql://user:secret@host/db")
    assert "secret" not in str(caught.value)
    assert "secret" not in repr(Settings.load(journal_url="postgresql://user:secret@host/db"))
    with pytest.raises(SettingsError, match="write / as %2F") as caught:
        Settings.load(journal_url="postgresql://user:half/secret@host/db")
    assert "secret" not in str(caught.value)


@pytest.mark.parametrize("name", ["journal_url", "snapshots", "gateway_url", "gateway_token"])
def test_a_secret_that_is_written_wrongly_is_not_shown(name: str, tmp_path: Path) -> None:
    (tmp_path / "turnwright.toml").write_text(f'{name} = ["secret"]')
    with pytest.raises(SettingsError, match=name) as caught:
        Settings.load()
    assert "secret" not in str(caught.value)


def test_settings_do_not_change_after_they_were_read() -> None:
    with pytest.raises(ValueError, match="frozen"):
        Settings.load().stall_s = 5  # type: ignore[misc]


def test_every_duration_and_bound_is_explained_and_ends_with_its_unit() -> None:
    for name, field in Settings.model_fields.items():
        assert field.description, name
        if field.annotation in {int, float}:
            assert name.endswith(("_s", "_port")) or name.startswith("max_concurrent_"), name


@pytest.mark.parametrize("name", ["gateway_port", "metrics_port"])
def test_what_a_platform_says_of_a_service_of_ours_is_no_port(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(f"TURNWRIGHT_{name.upper()}", "tcp://10.0.0.1:80")
    assert getattr(Settings.load(), name) == Settings.model_fields[name].default
