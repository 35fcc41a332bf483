"""What a client must be told: which journal, whose data, who acts, and how wake-ups reach Temporal."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from turnwright.journal.keyring import read_keys

if TYPE_CHECKING:
    from temporalio.client import Client as TemporalClient

DEFAULT_ADDRESS = "localhost:7233"


@dataclass(frozen=True, slots=True, kw_only=True)
class ClientSettings:
    """How a client connects.

    `tenant` is the isolation boundary and `principal` who acts; both come from authentication, never from a
    caller's data. `temporal` makes the Temporal client when the first wake-up is due; without it
    `temporal_address` is used, and without that what Temporal's own environment and profiles say.
    `temporal_keys` is the file of keys that seal what passes through Temporal, the workers' too.
    `task_queue` must be the workers': left out on both sides, it follows from the journal's id.
    With a `gateway_url` the client speaks to that gateway under its `token`, and nothing else here matters.
    `wake=False` sends no wake-ups: a worker's sweeper then finds the work, a little later.
    """

    gateway_url: str | None = None
    token: str | None = field(default=None, repr=False)
    journal_url: str = "sqlite:///.turnwright/journal.db"
    tenant: str = "default"
    principal: str = "local"
    task_queue: str | None = None
    temporal_address: str | None = None
    temporal_namespace: str = "default"
    temporal_keys: Path | None = None
    temporal: Callable[[], Awaitable[TemporalClient]] | None = None
    wake: bool = True

    async def connect_temporal(self) -> TemporalClient:
        """A client that connects with its first call.

        Raises:
            InvalidInput: `temporal_keys` holds no keys.
        """
        if self.temporal is not None:
            return await self.temporal()
        # Here, because it takes most of a second, and who only looks needs no Temporal.
        from temporalio.client import Client as TemporalClient  # noqa: PLC0415
        from temporalio.envconfig import ClientConfigProfile, ClientConnectConfig  # noqa: PLC0415

        from turnwright.workflows.sealing import converter  # noqa: PLC0415

        configured = ClientConnectConfig(target_host=self.temporal_address or "", namespace=self.temporal_namespace)
        if self.temporal_address is None:
            configured = ClientConfigProfile.load().to_client_connect_config()
            configured.setdefault("target_host", DEFAULT_ADDRESS)
        shape = converter(None if self.temporal_keys is None else read_keys(self.temporal_keys))
        return await TemporalClient.connect(**configured, data_converter=shape, lazy=True)
