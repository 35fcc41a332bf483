"""Every commit on a server is told to other processes, also one that happens while another is being told."""

import asyncio
from functools import partial
from typing import Any

import asyncpg
import pytest

from tests.integration.stores.seeds import remember, touch
from turnwright.journal.postgres.client import Connection
from turnwright.journal.postgres.driver import PostgresDriver
from turnwright.journal.postgres.locks import topic
from turnwright.journal.postgres.notices import TOPICS_MAX, Listener, Notifier
from turnwright.journal.script import Script

SOON_S = 20.0


@pytest.fixture
def journal_url(postgres_url: str) -> str:
    return postgres_url


class Slow:
    """A server's connection that, once told, answers when it is let go on."""

    def __init__(self, connection: Connection) -> None:
        self.told = asyncio.Event()
        self.go_on = asyncio.Event()
        self._connection = connection

    async def fetch(self, query: str, *args: object) -> list[tuple[Any, ...]]:
        rows = await self._connection.fetch(query, *args)
        self.told.set()
        await self.go_on.wait()
        return rows

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401 - everything else is the connection's own
        return getattr(self._connection, name)


def remember_in(name: str, key: str) -> Script[None]:
    yield from remember(name)
    yield from touch(key)


async def test_a_commit_while_the_one_before_is_being_told_is_told_too(
    driver: PostgresDriver, other: PostgresDriver
) -> None:
    async with driver.watch({"k"}) as watch:
        await other.write(partial(remember_in, "first", "k"))
        assert await watch.changed(SOON_S)
        notifier = other._notifier
        assert notifier is not None
        assert notifier._connection is not None
        slow = Slow(notifier._connection)
        notifier._connection = slow  # type: ignore[assignment]
        await other.write(partial(remember_in, "second", "k"))
        await slow.told.wait()
        assert await watch.changed(SOON_S)
        await other.write(partial(remember_in, "third", "k"))
        slow.go_on.set()
        assert await watch.changed(SOON_S)


@pytest.mark.parametrize(("more", "everything"), [(0, False), (1, True)])
async def test_as_many_topics_as_may_be_told_at_once_fit_into_one_notice(
    driver: PostgresDriver, more: int, everything: bool
) -> None:
    heard: asyncio.Queue[list[str] | None] = asyncio.Queue()
    listener = Listener(driver._server, lambda _, topics: heard.put_nowait(topics))
    notifier = Notifier(driver._server)
    await listener.open()
    try:
        topics = sorted(topic(f"k{n}") for n in range(TOPICS_MAX + more))
        notifier.publish(topics)
        async with asyncio.timeout(SOON_S):
            assert await heard.get() == (None if everything else topics)
    finally:
        await notifier.stop()
        await listener.stop()


async def test_whoever_stops_waiting_to_listen_leaves_no_connection_behind(
    driver: PostgresDriver, monkeypatch: pytest.MonkeyPatch
) -> None:
    listening: asyncio.Queue[Connection] = asyncio.Queue()

    async def never(connection: Connection, *_: object) -> None:
        listening.put_nowait(connection)
        await asyncio.Event().wait()

    monkeypatch.setattr(asyncpg.Connection, "add_listener", never)
    listener = Listener(driver._server, lambda *_: None)
    opening = asyncio.create_task(listener.open())
    connection = await listening.get()
    opening.cancel()
    await asyncio.wait([opening])
    assert connection.is_closed()
    assert listener._reconnect is None
    await listener.stop()
