"""What was said before the command's name, and the settings that follow from it and from the surroundings.

Rule: settings are read when a command runs and not before, so `--help` works whatever is wrong with them. In a
folder where `turnwright dev` runs, commands find its Temporal by themselves; anything said explicitly wins.
"""

from __future__ import annotations

import getpass
import os
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from turnwright.client.settings import ClientSettings
from turnwright.worker.dev_place import DevPlace, without_password
from turnwright.worker.settings import Settings
from turnwright.worker.settings_file import at_home

if TYPE_CHECKING:
    from temporalio.client import Client as TemporalClient

FLAGS = frozenset({"config", "journal_url", "tenant", "task_queue", "temporal_address", "log_format", "log_level"})
TEMPORALS_OWN = ("TEMPORAL_ADDRESS", "TEMPORAL_PROFILE", "TEMPORAL_CONFIG_FILE")


@dataclass
class Invocation:
    """One call of `turnwright`."""

    flags: dict[str, object] = field(default_factory=dict)

    def given(self, **flags: object) -> None:
        """Note flags; those that are None were not given."""
        assert flags.keys() <= FLAGS
        self.flags |= {name: value for name, value in flags.items() if value is not None}

    def settings(self, **flags: object) -> Settings:
        """The settings under these flags of the command and those before its name.

        Raises:
            SettingsError: something cannot be used; one sentence that names the place.
        """
        given = {name: value for name, value in flags.items() if value is not None}
        return Settings.load(**{**self.flags, **given})

    def client_settings(self) -> ClientSettings:
        """The settings as a client needs them."""
        settings = with_dev_address(self.settings())

        async def connected() -> TemporalClient:
            from turnwright.worker.temporal_client import connect  # noqa: PLC0415 - as in ClientSettings

            return await connect(settings, lazy=True)

        return ClientSettings(
            gateway_url=settings.gateway_url,
            token=settings.gateway_token,
            journal_url=settings.journal_url,
            tenant=settings.tenant,
            principal=settings.principal or system_user(),
            task_queue=settings.task_queue,
            temporal=connected,
        )


def system_user() -> str:
    """Who sits at this terminal, as the operating system knows them."""
    try:
        return getpass.getuser()
    except (KeyError, OSError):  # a number without an account, as in many containers
        return f"uid {os.getuid()}"


def with_dev_address(settings: Settings, place: DevPlace | None = None) -> Settings:
    """The settings with the Temporal of a dev that runs in this folder on the same journal, unless one is named."""
    own = settings.temporal_environment and any(os.environ.get(name) for name in TEMPORALS_OWN)
    if settings.temporal_address is not None or settings.temporal_profile is not None or own:
        return settings
    running = (place or DevPlace()).running()
    if running is None or running.journal != without_password(settings.journal_url):
        return settings
    return settings.model_copy(update={"temporal_address": running.temporal_address, "temporal_environment": False})


def journal_url_of(given: str | None) -> str | None:
    """A journal as people write it: a URL, or the path of a SQLite file."""
    if given is None or "://" in given:
        return given
    return f"sqlite:///{at_home(Path(given))}"
