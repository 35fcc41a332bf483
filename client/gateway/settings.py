"""What a gateway must be told."""

from __future__ import annotations

from dataclasses import dataclass, field

from turnwright.client.gateway.credentials import JwtSettings
from turnwright.client.gateway.posting import WebhookSettings
from turnwright.client.metrics.address import Address
from turnwright.client.settings import ClientSettings

DEFAULT_PORT = 8420


@dataclass(frozen=True, slots=True, kw_only=True)
class GatewaySettings:
    """How a gateway serves.

    `client` says which journal, and how wake-ups reach Temporal; its tenant and principal are those of who asks
    nobody, where `open` is set: then every request is an administrator's, and only this machine may ask.
    `origins` are web pages' origins that may ask from a browser; none may unless it is named. `temporal_ui` is where
    Temporal's own page shows the namespace, such as http://127.0.0.1:8233/namespaces/default, for links to it.
    `metrics`: where it shows its numbers, if anywhere.

    A client has `body_timeout_s` for the whole of a body, `patience_s` for the head of a request or the rest of a body
    that was refused, and `send_timeout_s` to take what is sent to it; then its connection is closed.
    """

    client: ClientSettings
    host: str = "127.0.0.1"
    port: int = DEFAULT_PORT
    open: bool = False
    jwt: JwtSettings | None = None
    origins: tuple[str, ...] = field(default=())
    body_bytes_max: int = 4 * 1024 * 1024
    import_bytes_max: int = 128 * 1024 * 1024
    requests_per_s: float = 100
    requests_at_once: int = 200
    streams_max: int = 500
    body_timeout_s: float = 60
    patience_s: float = 15
    heartbeat_s: float = 15
    send_timeout_s: float = 30
    webhooks: WebhookSettings = field(default_factory=WebhookSettings)
    temporal_ui: str | None = None
    metrics: Address | None = None
