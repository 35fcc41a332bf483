"""What a process of Turnwright is told from outside: flags win over the environment, that over the file.

The environment spells a field `TURNWRIGHT_…` in capitals, the file `turnwright.toml` as it is called here, a
flag `--…` with dashes. The file is the one named by `--config` or `TURNWRIGHT_CONFIG`, else the one in the
working folder, if any. Every duration and bound ends with its unit. Whatever is wrong is said in one sentence
that names the place where it was written.
"""

import os
import re
from pathlib import Path
from typing import Annotated, Any, Literal, Self

from pydantic import Field, ValidationError, ValidationInfo, field_validator
from pydantic_settings import BaseSettings, PydanticBaseSettingsSource, SettingsConfigDict

from turnwright.journal.authority import split
from turnwright.journal.drivers import sqlite_file
from turnwright.journal.snapshots.opening import checked_url
from turnwright.worker.settings_environment import ENV_PREFIX, check_environment
from turnwright.worker.settings_file import SettingsError, SettingsFile, find_file
from turnwright.workflows.payloads import HEARTBEAT_TIMEOUT_S

__all__ = ["Settings", "SettingsError"]

DAY_S = 86_400
# Larger ones are cut to this by the Temporal server without a word.
WORKFLOW_TASK_TIMEOUT_MAX_S = 120
OPTIONS = {"journal_url": "--journal"}  # those of another name than the setting
JOURNAL_URL = re.compile(r"(sqlite:///(?!:memory:).+|postgres(ql)?://.+)")
SECRET = ("journal_url", "snapshots", "gateway_url", "gateway_token")  # may hold a password, or is one
HOST_PORT = re.compile(r"[^\s/]+:\d{1,5}")
WEB_PAGE = re.compile(r"https?://[^\s/]\S*")
AGENTS = re.compile(r"[^\W\d]\w*(\.[^\W\d]\w*)*:[^\W\d]\w*")

Name = Annotated[str, Field(min_length=1, max_length=200)]
Seconds = Annotated[float, Field(gt=0, le=DAY_S, allow_inf_nan=False)]
Grace = Annotated[float, Field(ge=0, le=DAY_S, allow_inf_nan=False)]


class Settings(BaseSettings):
    """All settings, checked; make one with `Settings.load`, whose errors are written for people."""

    model_config = SettingsConfigDict(
        env_prefix=ENV_PREFIX, env_ignore_empty=True, extra="forbid", frozen=True, validate_default=True
    )

    config: Path | None = Field(None, description="the TOML file these settings are read from")

    journal_url: str = Field(
        "sqlite:///.turnwright/journal.db",
        repr=False,  # may hold a password
        description="the journal: sqlite:///path (a second slash before an absolute path) or postgresql://…",
    )
    tenant: Name = Field("default", description="the tenant of commands given on this machine")
    principal: Name | None = Field(
        None, description="who gives commands on this machine, for the records; else the system's user"
    )
    agents: str | None = Field(None, description="the agents to run, as package.module:name of a registry")

    snapshots: str | None = Field(
        None,
        repr=False,  # may hold a password
        description="where workers keep agents' states outside the journal: redis://…, file:///…, postgresql+asyncpg://…",
    )

    task_queue: Name | None = Field(
        None, description="the Temporal task queue; without it, one that follows from the journal's id"
    )
    temporal_address: str | None = Field(
        None, description="host:port of Temporal; without it, what Temporal's own configuration says"
    )
    temporal_namespace: Name | None = Field(None, description="the Temporal namespace; as temporal_address")
    temporal_profile: Name | None = Field(None, description="the profile of Temporal's own configuration")
    temporal_environment: bool = Field(
        default=True, description="whether Temporal's own configuration (TEMPORAL_…, profiles) is read at all"
    )
    temporal_keys: Path | None = Field(
        None, description="a file of keys that seal what passes through Temporal; the same for all processes"
    )
    temporal_ui: str | None = Field(
        None, description="where Temporal's own page shows the namespace, for the gateway's links to it"
    )

    heartbeat_interval_s: Annotated[Seconds, Field(le=HEARTBEAT_TIMEOUT_S / 2)] = Field(
        4, description="how often a running activity gives a sign of life"
    )
    sticky_timeout_s: Seconds = Field(2, description="wait for the worker that knows a workflow already")
    workflow_task_timeout_s: Annotated[Seconds, Field(le=WORKFLOW_TASK_TIMEOUT_MAX_S)] = Field(
        5, description="silence after which Temporal gives a workflow's decision to another worker"
    )
    sweep_interval_s: Seconds = Field(1, description="how often stalled threads are looked for")
    stall_s: Seconds = Field(3, description="age of a turn's last plan after which nobody seems to run it")
    lease_s: Seconds = Field(8, description="how long a claim holds against others without a sign of life")
    once_grace_s: Grace = Field(5, description="added to the lease before the effect of a call is unknown")
    cancel_grace_s: Grace = Field(5, description="how long a cancelled tool may take to end")
    drain_timeout_s: Grace = Field(20, description="how long a stopping worker waits for what it runs")

    # Temporal gives a workflow's decision two seconds of one thread: too many at once look like a deadlock.
    max_concurrent_workflow_tasks: int = Field(20, ge=2, le=1_000, description="decisions at the same time")
    max_concurrent_activities: int = Field(100, ge=1, le=10_000, description="activities at the same time")

    gateway_url: str | None = Field(
        None, description="a gateway that commands go through, such as https://agents.example.com, instead of a journal"
    )
    gateway_token: str | None = Field(None, repr=False, description="the API key or token for that gateway")
    gateway_host: Name = Field("127.0.0.1", description="the address `turnwright gateway` listens on")
    gateway_port: int = Field(8420, ge=0, le=65_535, description="its port; 0: one that is free")
    gateway_origins: str = Field(
        "", description="origins of web pages that may ask it from a browser, with commas between; none may otherwise"
    )
    gateway_webhooks_private: bool = Field(
        default=False, description="whether webhooks may go to addresses that are not public, and without TLS"
    )
    jwt_issuer: str | None = Field(None, description="whose tokens the gateway takes beside API keys (`iss`)")
    jwt_audience: Name = Field("turnwright", description="whom such tokens are for (`aud`)")
    jwt_jwks_url: str | None = Field(None, description="where the issuer publishes its keys")
    jwt_tenant_claim: Name = Field("tenant", description="the claim that says the tenant")
    jwt_role_claim: Name = Field("role", description="the claim that says caller, operator or admin")
    jwt_user_claim: Name = Field("sub", description="the claim that says the user")

    metrics_host: Name = Field("127.0.0.1", description="the address that worker and gateway show their numbers on")
    metrics_port: int | None = Field(
        None, ge=0, le=65_535, description="its port, with /metrics, /livez and /readyz; without it, they show none"
    )

    transcripts: Path | None = Field(None, description="a folder that a worker keeps transcripts of all sessions in")

    log_format: Literal["console", "json"] = Field("console", description="for people or for machines")
    log_level: Literal["debug", "info", "warning", "error"] = Field("info", description="the least to log")
    log_rules: Path | None = Field(
        None, description="a file that says what is logged while the process runs, such as a mounted ConfigMap"
    )

    @classmethod
    def load(cls, **flags: object) -> Self:
        """Read file and environment under the flags that are given; a flag that is None was not."""
        given: dict[str, Any] = {name: value for name, value in flags.items() if value is not None}
        check_environment(os.environ, cls.model_fields)
        try:
            return cls(**given)
        except ValidationError as error:
            raise SettingsError("; ".join(_sentences(error, given))) from None

    @classmethod
    def settings_customise_sources(
        cls,
        settings_cls: type[BaseSettings],
        init_settings: PydanticBaseSettingsSource,
        env_settings: PydanticBaseSettingsSource,
        dotenv_settings: PydanticBaseSettingsSource,  # noqa: ARG003 - passed by name
        file_secret_settings: PydanticBaseSettingsSource,  # noqa: ARG003
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        """Flags, then the environment, then the file."""
        return init_settings, env_settings, SettingsFile(settings_cls)

    @property
    def journal_file(self) -> Path | None:
        """The journal's file, if it is one."""
        return sqlite_file(self.journal_url)

    @field_validator("gateway_port", "metrics_port", mode="before")
    @classmethod
    def _not_of_the_platform(cls, value: object, about: ValidationInfo) -> object:
        """What container platforms set beside a service that is called `turnwright-gateway` is none of ours."""
        of_platform = isinstance(value, str) and value.startswith("tcp://")
        return cls.model_fields[about.field_name or ""].default if of_platform else value

    @field_validator("log_level", mode="before")
    @classmethod
    def _lower(cls, value: object) -> object:
        return value.lower() if isinstance(value, str) else value

    @field_validator("journal_url")
    @classmethod
    def _check_journal_url(cls, value: str) -> str:
        split(value, "")
        return _matching(JOURNAL_URL, value, "sqlite:///path/of/a/file or postgresql://user@host/database")

    @field_validator("snapshots")
    @classmethod
    def _check_snapshots(cls, value: str | None) -> str | None:
        return value and checked_url(value)

    @field_validator("temporal_address")
    @classmethod
    def _check_temporal_address(cls, value: str | None) -> str | None:
        return value and _matching(HOST_PORT, value, "host:port")

    @field_validator("temporal_ui")
    @classmethod
    def _check_temporal_ui(cls, value: str | None) -> str | None:
        wanted = "https://temporal.example.com/namespaces/default"
        return value and _matching(WEB_PAGE, value, wanted).rstrip("/")

    @field_validator("agents")
    @classmethod
    def _check_agents(cls, value: str | None) -> str | None:
        file, colon, name = (value or "").partition(":")
        if colon and file.endswith(".py"):
            module = file.removesuffix(".py").strip("./\\").replace("/", ".").replace("\\", ".")
            raise ValueError(f"names a file: write its module, {module}:{name}")
        return value and _matching(AGENTS, value, "package.module:name")


def _matching(pattern: re.Pattern[str], value: str, wanted: str) -> str:
    if pattern.fullmatch(value) is None:
        raise ValueError(f"must look like {wanted}")
    return value


def _sentences(error: ValidationError, given: dict[str, Any]) -> list[str]:
    found = []
    for one in error.errors(include_url=False, include_context=False):
        said = one["msg"].removeprefix("Value error, ").removeprefix("Input ")
        name = str(one["loc"][0])
        shown = "" if name in SECRET else f", not {one['input']!r}"
        found.append(f"{_place(name, given)}{said[:1].lower()}{said[1:]}{shown}")
    return found


def _place(name: str, given: dict[str, Any]) -> str:
    """Where the person wrote the value."""
    variable = f"{ENV_PREFIX}{name.upper()}"
    if not name:
        return ""
    if name in given:
        return f"{OPTIONS.get(name) or '--' + name.replace('_', '-')} "
    if any(key.upper() == variable and value for key, value in os.environ.items()):
        return f"{variable} "
    return f"{name} in {find_file(given.get('config'))} "
