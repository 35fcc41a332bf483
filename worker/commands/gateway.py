"""`turnwright gateway`: serve the journal over HTTP until told to stop."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from turnwright.client.cli.options import Json
from turnwright.client.cli.screen import Screen
from turnwright.client.settings import ClientSettings
from turnwright.journal.errors import InvalidInput
from turnwright.worker.commands.ending import told
from turnwright.worker.invocation import Invocation
from turnwright.worker.leaving import MARGIN_S, leave_when_asked, run_until_signalled
from turnwright.worker.logs import configure_logs
from turnwright.worker.settings import Settings
from turnwright.worker.shown import shown_at

Host = Annotated[str | None, typer.Option(help="The address to listen on.")]
Port = Annotated[int | None, typer.Option(min=0, max=65_535, help="The port; 0: one that is free.")]
MetricsPort = Annotated[int | None, typer.Option(min=0, max=65_535, help="Show /metrics on this port.")]
Open = Annotated[bool, typer.Option("--open", help="Ask nobody who they are; on this machine only.")]


def register(app: typer.Typer, invocation: Invocation) -> None:
    """Add the command."""

    @app.command()
    def gateway(
        *,
        host: Host = None,
        port: Port = None,
        metrics_port: MetricsPort = None,
        is_open: Open = False,
        as_json: Json = False,
    ) -> None:
        """Serve the HTTP interface. SIGTERM or Ctrl-C ends it; streams are told to come back."""
        with told(Screen(as_json=as_json)):
            log_format = "json" if as_json else None
            settings = invocation.settings(
                gateway_host=host, gateway_port=port, metrics_port=metrics_port, log_format=log_format
            )
            run_gateway(settings, invocation.client_settings(), is_open=is_open)


def run_gateway(settings: Settings, client: ClientSettings, *, is_open: bool) -> None:
    """Be a gateway until the end."""
    leave_when_asked()
    from turnwright.client.gateway.credentials import JwtSettings  # noqa: PLC0415 - the other commands need no server
    from turnwright.client.gateway.posting import WebhookSettings  # noqa: PLC0415
    from turnwright.client.gateway.serve import LEAVE_S, Gateway  # noqa: PLC0415
    from turnwright.client.gateway.settings import GatewaySettings  # noqa: PLC0415

    configure_logs(settings.log_format, settings.log_level, sys.stderr, settings.log_rules)
    if settings.gateway_url is not None:
        raise InvalidInput("a gateway serves a journal, not another gateway; leave gateway_url out")
    if (settings.jwt_issuer is None) != (settings.jwt_jwks_url is None):
        raise InvalidInput("say both jwt_issuer and jwt_jwks_url, or neither")
    jwt = None
    if settings.jwt_issuer is not None and settings.jwt_jwks_url is not None:
        jwt = JwtSettings(
            issuer=settings.jwt_issuer,
            audience=settings.jwt_audience,
            jwks_url=settings.jwt_jwks_url,
            tenant_claim=settings.jwt_tenant_claim,
            role_claim=settings.jwt_role_claim,
            user_claim=settings.jwt_user_claim,
        )
    origins = tuple(origin.strip() for origin in settings.gateway_origins.split(",") if origin.strip())
    gateway = Gateway(
        GatewaySettings(
            client=client,
            host=settings.gateway_host,
            port=settings.gateway_port,
            open=is_open,
            jwt=jwt,
            origins=origins,
            webhooks=WebhookSettings(private=settings.gateway_webhooks_private),
            temporal_ui=settings.temporal_ui,
            metrics=shown_at(settings),
        )
    )
    run_until_signalled(gateway, LEAVE_S + MARGIN_S)
