"""A gateway that serves a journal over real HTTP, on a port of its own."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import uvicorn

from tests.integration.client.program import NOBODY_THERE
from turnwright.client.gateway.serve import server_of
from turnwright.client.gateway.settings import GatewaySettings
from turnwright.client.settings import ClientSettings

LOOK_S = 0.005


def settings_of(journal_url: str, **more: object) -> GatewaySettings:
    """Settings of a gateway of that journal, with no Temporal to be told."""
    client = ClientSettings(journal_url=journal_url, tenant="acme", temporal_address=NOBODY_THERE)
    return GatewaySettings(client=client, **more)  # type: ignore[arg-type]


@asynccontextmanager
async def serving(settings: GatewaySettings, port: int = 0) -> AsyncIterator[str]:
    """The URL of a gateway, while it serves."""
    async with running(server_of(settings), port) as url:
        yield url


@asynccontextmanager
async def running(server: uvicorn.Server, port: int = 0) -> AsyncIterator[str]:
    """The URL of a server on that port, or one of its own, while it serves."""
    with socket.create_server(("127.0.0.1", port)) as listening:
        task = asyncio.create_task(server.serve(sockets=[listening]))
        while not server.started:
            assert not task.done(), task.result()
            await asyncio.sleep(LOOK_S)
        try:
            yield f"http://127.0.0.1:{listening.getsockname()[1]}"
        finally:
            server.should_exit = True
            await task
