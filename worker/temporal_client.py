"""One client of Temporal per process, from Temporal's own configuration under our settings.

Temporal's variables and profile files (`TEMPORAL_ADDRESS`, TLS, client certificates, API key) mean here what they
mean for its command line. Payloads are plain dataclasses of ids and numbers; with `temporal_keys` they are sealed.
A lazy client connects with its first call: whoever only sends wake-ups starts while Temporal is down.
"""

from temporalio.client import Client
from temporalio.envconfig import ClientConfigProfile, ClientConnectConfig
from temporalio.runtime import Runtime

from turnwright.client.unreached import brief
from turnwright.journal.keyring import read_keys
from turnwright.worker.settings import Settings, SettingsError
from turnwright.workflows.engine import TemporalUnreachable
from turnwright.workflows.sealing import converter

DEFAULT_ADDRESS = "localhost:7233"


def read_connection(settings: Settings) -> ClientConnectConfig:
    """Where and how to connect: the settings over Temporal's own configuration."""
    connection = _read_temporals_own(settings) if settings.temporal_environment else ClientConnectConfig()
    connection.setdefault("target_host", DEFAULT_ADDRESS)
    if settings.temporal_address is not None:
        connection["target_host"] = settings.temporal_address
    if settings.temporal_namespace is not None:
        connection["namespace"] = settings.temporal_namespace
    return connection


def _read_temporals_own(settings: Settings) -> ClientConnectConfig:
    try:
        return ClientConfigProfile.load(settings.temporal_profile).to_client_connect_config()
    except (OSError, RuntimeError, ValueError) as error:
        raise SettingsError(f"Temporal's own configuration cannot be used: {error}") from None


async def connect(settings: Settings, *, lazy: bool = False, runtime: Runtime | None = None) -> Client:
    """Connect now, or with the first call.

    Raises:
        InvalidInput: `temporal_keys` holds no keys.
        SettingsError: Temporal's own configuration cannot be used.
        TemporalUnreachable: it does not answer.
    """
    connection = read_connection(settings)
    shape = converter(None if settings.temporal_keys is None else read_keys(settings.temporal_keys))
    try:
        return await Client.connect(**connection, data_converter=shape, lazy=lazy, runtime=runtime)
    except RuntimeError as error:
        raise TemporalUnreachable(
            f"Temporal at {connection['target_host']} does not answer: start it, or set "
            f"TURNWRIGHT_TEMPORAL_ADDRESS ({brief(error)})"
        ) from None
