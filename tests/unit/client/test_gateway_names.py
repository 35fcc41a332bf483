"""Looking up names that are not answered for."""

from __future__ import annotations

import asyncio
import socket
import threading
from collections.abc import Iterator
from typing import Any

import pytest

from turnwright.client.gateway.names import Names

DEADLINE_S = 60
THREADS = 2


@pytest.fixture
def names(monkeypatch: pytest.MonkeyPatch) -> Iterator[Names]:
    """One of two threads, where the names of `hang.example` are answered for only when all is over."""
    over, system = threading.Event(), socket.getaddrinfo

    def answered(host: Any, *more: Any, **named: Any) -> Any:  # noqa: ANN401 - as the system's
        if str(host).endswith("hang.example"):
            over.wait(DEADLINE_S)
            raise socket.gaierror("nobody knows")
        return system("127.0.0.1", *more, **named)

    monkeypatch.setattr(socket, "getaddrinfo", answered)
    names = Names(THREADS, look_up_s=0.2)
    yield names
    over.set()
    names.close()


async def test_a_name_that_nobody_answers_for_is_given_up_and_takes_one_thread_however_often_it_is_asked(
    names: Names,
) -> None:
    async with asyncio.timeout(DEADLINE_S):
        waits = [names.addresses("hang.example") for _ in range(2 * THREADS)]
        for found in await asyncio.gather(*waits, return_exceptions=True):
            assert "was not looked up within 0.2 s" in str(found)
        assert await names.addresses("shop.example") == ["127.0.0.1"]


async def test_threads_that_hang_are_not_those_of_anybody_else(names: Names) -> None:
    async with asyncio.timeout(DEADLINE_S):
        waits = [names.addresses(f"{n}.hang.example") for n in range(THREADS)]
        assert await asyncio.gather(asyncio.to_thread(threading.get_ident), *waits, return_exceptions=True)
        with pytest.raises(OSError, match="was not looked up"):
            await names.addresses("shop.example")
        assert await asyncio.to_thread(lambda: True)
