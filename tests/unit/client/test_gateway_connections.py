"""The gateway's connections, on real sockets of this machine."""

from __future__ import annotations

import asyncio
import socket

import uvicorn
from uvicorn.server import ServerState

from turnwright.client.gateway.connections import connections
from turnwright.client.gateway.settings import GatewaySettings
from turnwright.client.settings import ClientSettings


async def nobody(scope: object, receive: object, send: object) -> None:
    """An application that nobody asks anything."""


async def test_an_answer_is_sent_at_once_whoever_listened_on_the_socket() -> None:
    """Otherwise an answer in two writes waits for the reader's acknowledgement: 44 ms on a kept connection."""
    http = connections(GatewaySettings(client=ClientSettings(journal_url="sqlite:journal.db")), 10)
    config = uvicorn.Config(nobody, http=http)
    config.load()
    with (
        socket.create_server(("127.0.0.1", 0)) as listening,
        socket.create_connection(listening.getsockname()) as reader,
    ):
        accepted, _ = listening.accept()
        assert not accepted.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)
        transport, _ = await asyncio.get_running_loop().connect_accepted_socket(
            lambda: http(config=config, server_state=ServerState(), app_state={}), accepted
        )
        assert transport.get_extra_info("socket").getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)
        transport.abort()
        assert await asyncio.to_thread(reader.recv, 1) == b""
