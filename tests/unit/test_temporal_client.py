import json
from pathlib import Path

import pytest
import typer
from temporalio.service import TLSConfig

from turnwright.client.cli.screen import Screen
from turnwright.worker import loopback
from turnwright.worker.commands.ending import told
from turnwright.worker.settings import Settings, SettingsError
from turnwright.worker.temporal_client import connect, read_connection
from turnwright.workflows.engine import TemporalUnreachable

PROFILES = """
[profile.default]
address = "default.example:7233"
namespace = "from-profile"

[profile.cloud]
address = "cloud.example:7233"
api_key = "key"
[profile.cloud.tls]
server_name = "cloud"
"""


@pytest.fixture(autouse=True)
def profiles(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "temporal.toml"
    path.write_text(PROFILES, encoding="utf-8")
    for name in ("ADDRESS", "NAMESPACE", "PROFILE", "API_KEY", "TLS"):
        monkeypatch.delenv(f"TEMPORAL_{name}", raising=False)
    monkeypatch.setenv("TEMPORAL_CONFIG_FILE", str(path))
    return path


def test_without_settings_temporals_own_profile_is_used() -> None:
    assert read_connection(Settings.load()) == {
        "target_host": "default.example:7233",
        "namespace": "from-profile",
    }


def test_another_profile_brings_its_encryption_and_its_key() -> None:
    connection = read_connection(Settings.load(temporal_profile="cloud"))
    assert (connection["target_host"], connection["api_key"]) == ("cloud.example:7233", "key")
    assert connection["tls"] == TLSConfig(domain="cloud")


def test_temporals_variables_win_over_its_profile_and_settings_over_both(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("TEMPORAL_ADDRESS", "variable.example:7233")
    monkeypatch.setenv("TEMPORAL_NAMESPACE", "from-variable")
    assert read_connection(Settings.load())["target_host"] == "variable.example:7233"
    settings = Settings.load(temporal_address="ours.example:7233", temporal_namespace="ours")
    assert read_connection(settings) == {"target_host": "ours.example:7233", "namespace": "ours"}


def test_the_environment_of_another_temporal_can_be_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    # Otherwise a key for the cloud would be sent to, and encryption demanded of, the embedded server.
    monkeypatch.setenv("TEMPORAL_API_KEY", "key")
    settings = Settings.load(temporal_address="127.0.0.1:7233", temporal_environment=False)
    assert read_connection(settings) == {"target_host": "127.0.0.1:7233"}


def test_an_unknown_profile_and_a_broken_profile_file_are_errors_of_settings(profiles: Path) -> None:
    with pytest.raises(SettingsError, match=r"Temporal's own configuration .*nowhere"):
        read_connection(Settings.load(temporal_profile="nowhere"))
    profiles.write_text("[profile", encoding="utf-8")
    with pytest.raises(SettingsError, match="Temporal's own configuration"):
        read_connection(Settings.load())


def test_a_certificate_that_is_missing_is_an_error_of_settings(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TEMPORAL_TLS_CLIENT_CERT_PATH", "/nowhere/client.pem")
    with pytest.raises(SettingsError, match=r"/nowhere/client.pem"):
        read_connection(Settings.load())


async def test_a_client_says_at_once_that_temporal_is_down_unless_it_is_lazy() -> None:
    address = f"127.0.0.1:{loopback.find_free()}"
    settings = Settings.load(temporal_address=address, temporal_environment=False)
    with pytest.raises(TemporalUnreachable, match=f"Temporal at {address} does not answer"):
        await connect(settings)
    client = await connect(settings, lazy=True)
    assert client.namespace == "default"


async def test_a_command_that_needs_temporal_says_that_it_is_down_and_not_that_the_system_failed(
    capsys: pytest.CaptureFixture[str],
) -> None:
    settings = Settings.load(temporal_address=f"127.0.0.1:{loopback.find_free()}", temporal_environment=False)
    with pytest.raises(typer.Exit), told(Screen(as_json=True)):
        await connect(settings)
    assert json.loads(capsys.readouterr().err)["error"]["code"] == "temporal"
