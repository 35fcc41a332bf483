"""Who sends nothing, half, too much or rubbish, and who does not read, harms nobody else and is gone in a while."""

from __future__ import annotations

import asyncio
import json
import signal
import socket
import time
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.integration.client.asking import events, http
from tests.integration.client.gateway_process import BODY_BYTES_MAX, PATIENCE_S, Process, gateway_process
from tests.integration.client.hands import AGENT
from turnwright.client.gateway.bodies import AT_ONCE
from turnwright.client.gateway.connections import CONNECTIONS_MAX
from turnwright.journal.api_keys import Grant
from turnwright.journal.drivers import open_driver
from turnwright.journal.store_keys import create_key

pytestmark = pytest.mark.slow

GONE_S_MAX = 8 * PATIENCE_S
"""A connection is looked at now and then, by a machine that does other things too."""
ANSWER_S_MAX = 5.0
SILENT = 1_000
MEGABYTE = 1_000_000
TURNS = f"/v1/sessions/s/threads/{AGENT}/main/turns"


@dataclass(frozen=True, slots=True)
class Victim:
    """A gateway that is harmed, and a key of it."""

    process: Process
    token: str
    journal_url: str

    async def connect(self, **options: Any) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:  # noqa: ANN401
        return await asyncio.open_connection("127.0.0.1", self.process.port, **options)

    def head(self, method: str, path: str, *lines: str) -> bytes:
        """The head of a request, with the key."""
        return "\r\n".join(
            (f"{method} {path} HTTP/1.1", "Host: g", f"Authorization: Bearer {self.token}", *lines, "", "")
        ).encode()

    async def still_answers(self) -> None:
        """Somebody else is answered, and soon."""
        async with asyncio.timeout(ANSWER_S_MAX), http(self.process.url, self.token) as ask:
            assert (await ask.get("/me")).is_success


@pytest.fixture(scope="module")
def victim(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Victim]:
    folder = tmp_path_factory.mktemp("hostile")
    journal_url = f"sqlite:///{folder / 'journal.db'}"
    token = asyncio.run(_prepared(journal_url))
    with gateway_process(journal_url, folder / "gateway.log") as process:
        asyncio.run(_opened(process.url, token))
        yield Victim(process, token, journal_url)


async def _prepared(journal_url: str) -> str:
    driver = open_driver(journal_url)
    await driver.start()
    try:
        await driver.migrate()
        return (await create_key(driver, "acme", Grant(name="ann", role="admin", user="ann"))).token
    finally:
        await driver.stop()


async def _opened(url: str, token: str) -> None:
    async with http(url, token) as ask:
        await ask.put("/sessions/s", json={})
        assert (await ask.post(f"/sessions/s/threads/{AGENT}/main/inject", json={"message": "first"})).is_success


async def gone(reader: asyncio.StreamReader) -> bytes:
    """What came before the connection ended, which it does in a bounded time."""
    said = b""
    async with asyncio.timeout(GONE_S_MAX):
        with suppress(ConnectionError):
            while part := await reader.read(65_536):
                said += part
    return said


async def drip(writer: asyncio.StreamWriter, what: Callable[[], bytes], every_s: float = 0.05) -> None:
    """Send on and on, until nobody is there."""
    with suppress(ConnectionError):
        while not writer.is_closing():
            writer.write(what())
            await writer.drain()
            await asyncio.sleep(every_s)


@asynccontextmanager
async def dripping(
    writer: asyncio.StreamWriter, what: Callable[[], bytes], every_s: float = 0.05
) -> AsyncIterator[None]:
    task = asyncio.create_task(drip(writer, what, every_s))
    try:
        yield
    finally:
        task.cancel()
        with suppress(asyncio.CancelledError):
            await task
        writer.close()


def answer_of(said: bytes) -> tuple[int, dict[str, Any]]:
    """The status and the problem of the only answer that was given."""
    head, _, body = said.partition(b"\r\n\r\n")
    status = int(head.split(b" ", 2)[1])
    assert b"application/problem+json" in head, said
    return status, json.loads(body)


# -- requests that never come ------------------------------------------------------------------


@pytest.mark.parametrize(
    ("first", "then"),
    [
        (b"", None),
        (b"GET /v1/me HT", None),
        (b"GET /v1/me HTTP/1.1\r\nHost: g\r\nX-A: ", b"a"),
        (b"GET /v1/me HTTP/1.1\r\nHost: g\r\n", b"X-A: a\r\n"),
        (b"", b"\r"),
        (b"GET /v1/" + b"a" * 70_000, b"a" * 10_000),
        (b"GET /v1/me HTTP/1.1\r\n", b"X-Long: " + b"a" * 10_000 + b"\r\n"),
    ],
)
async def test_a_head_that_never_ends_is_not_waited_for(victim: Victim, first: bytes, then: bytes | None) -> None:
    reader, writer = await victim.connect()
    writer.write(first)
    async with dripping(writer, lambda: then or b"", 0.05):
        await victim.still_answers()
        said = await gone(reader)
    assert b" 200 " not in said


async def test_a_head_that_never_ends_behind_a_whole_request_is_not_waited_for(victim: Victim) -> None:
    reader, writer = await victim.connect()
    writer.write(victim.head("GET", "/v1/me") + b"GET /v1/me HTTP/1.1\r\nX-A: ")
    async with dripping(writer, lambda: b"a"):
        assert (await gone(reader)).count(b"HTTP/1.1 200") == 1


@pytest.mark.parametrize("then", [b"", b" "])
@pytest.mark.parametrize("length", ["Content-Length: 1000", "Transfer-Encoding: chunked"])
async def test_a_body_that_never_comes_is_answered_408_and_not_waited_for(
    victim: Victim, length: str, then: bytes
) -> None:
    reader, writer = await victim.connect()
    writer.write(victim.head("POST", TURNS, "Content-Type: application/json", length))
    part = b"1\r\n \r\n" if then and "chunked" in length else then
    async with dripping(writer, lambda: part):
        await victim.still_answers()
        status, problem = answer_of(await gone(reader))
    assert (status, problem["code"]) == (408, "body_too_slow")


async def test_a_thousand_connections_that_say_nothing_cost_little_and_nobody_else_anything(victim: Victim) -> None:
    before = victim.process.resident_bytes
    async with AsyncExitStack() as stack:
        for _ in range(SILENT):
            _, writer = await victim.connect()
            stack.callback(writer.close)
        await victim.still_answers()
        assert victim.process.resident_bytes - before < 50 * MEGABYTE
        await until(lambda: victim.process.connections <= 1, GONE_S_MAX)


async def test_when_there_are_as_many_connections_as_may_be_the_silent_make_room(victim: Victim) -> None:
    async with AsyncExitStack() as stack:
        for _ in range(CONNECTIONS_MAX + 100):
            _, writer = await victim.connect()
            stack.callback(writer.close)
        await victim.still_answers()


# -- requests that are too much ----------------------------------------------------------------


@pytest.mark.parametrize("path", [TURNS, "/v1/me"])
@pytest.mark.parametrize("length", [f"Content-Length: {10**15}", "Transfer-Encoding: chunked"])
async def test_a_body_without_an_end_is_refused_and_its_sender_cut_off(victim: Victim, path: str, length: str) -> None:
    before = victim.process.resident_bytes
    reader, writer = await victim.connect()
    method = "POST" if path == TURNS else "GET"
    writer.write(victim.head(method, path, "Content-Type: application/json", length))
    part = b" " * 50_000
    chunk = b"c350\r\n" + part + b"\r\n" if "chunked" in length else part
    async with dripping(writer, lambda: chunk, 0):
        said = await gone(reader)
    assert victim.process.resident_bytes - before < 30 * MEGABYTE
    await victim.still_answers()
    if path == TURNS:
        assert answer_of(said)[0] == 413
    assert len(said) < 10_000


async def test_bodies_that_are_not_finished_are_bounded_all_together(victim: Victim) -> None:
    """Each is within the bound, and who comes when all is taken is told to come again."""
    before = victim.process.resident_bytes
    head = victim.head("POST", TURNS, "Content-Type: application/json", f"Content-Length: {BODY_BYTES_MAX}")
    async with AsyncExitStack() as stack:
        readers = []
        for _ in range(3 * AT_ONCE):
            reader, writer = await victim.connect()
            stack.callback(writer.close)
            writer.write(head + b" " * (BODY_BYTES_MAX - 1))
            readers.append(reader)
        statuses = [answer_of(await gone(reader))[0] for reader in readers]
    assert set(statuses) == {408, 503}
    assert victim.process.resident_bytes - before < 100 * MEGABYTE
    await victim.still_answers()


# -- half of a conversation --------------------------------------------------------------------


@pytest.mark.parametrize("path", ["/v1/me", "/v1/sessions/s/events"])
async def test_who_closes_its_half_is_let_go_at_once(victim: Victim, path: str) -> None:
    for _ in range(10):  # more than there may be streams
        reader, writer = await victim.connect()
        writer.write(victim.head("GET", path))
        if "events" in path:
            assert b" 200 " in await reader.readline()
        writer.write_eof()
        await gone(reader)
        writer.close()
    await victim.still_answers()


async def test_who_resets_in_the_middle_of_anything_is_forgotten(victim: Victim) -> None:
    whole = victim.head("POST", TURNS, "Content-Type: application/json", "Content-Length: 20") + b'{"input": "hello"}  '
    for cut in range(0, len(whole), 7):
        with socket.create_connection(("127.0.0.1", victim.process.port)) as raw:
            raw.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\x01\0\0\0\0\0\0\0")
            raw.sendall(whole[:cut])
    await until(lambda: victim.process.connections == 0, GONE_S_MAX)
    await victim.still_answers()


# -- rubbish -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "rubbish",
    [
        b"\x00\xff\x16\x03\x01" * 100,
        b"GET / HTTP/9.9\r\n\r\n",
        b"GET  /v1/me\r\n\r\n",
        b"GET /v1/me HTTP/1.1\r\nHost: g\r\nContent-Length: -1\r\n\r\n",
        b"GET /v1/me HTTP/1.1\r\nHost: g\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n",
        b"POST /v1/me HTTP/1.1\r\nHost: g\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
        b"POST /v1/me HTTP/1.1\r\nHost: g\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\nno chunk\r\n",
        b"GET /v1/me HTTP/1.1\r\nHost : g\r\n\r\n",
        b"GET /v1/me HTTP/1.1\r\nHost: g\r\nX: a\x00b\r\n\r\n",
        b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
        b"GET /v1/me HTTP/1.1\r\nHost: g\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\n",
        b"GET /v1/%ff%00%2e%2e/..;/ HTTP/1.1\r\nHost: g\r\n\r\n",
    ],
)
@pytest.mark.parametrize("behind", ["nothing", "a request"])
async def test_rubbish_is_refused_and_the_connection_ends(victim: Victim, rubbish: bytes, behind: str) -> None:
    reader, writer = await victim.connect()
    writer.write((victim.head("GET", "/v1/me") if behind == "a request" else b"") + rubbish + b"\x00rubbish\r\n\r\n")
    said = await gone(reader)
    writer.close()
    assert said.count(b"HTTP/1.1 200") == (behind == "a request")
    assert b"HTTP/1.1 5" not in said
    assert b"text/plain" not in said
    await victim.still_answers()


async def test_a_thousand_requests_in_one_go_are_answered_one_by_one(victim: Victim) -> None:
    reader, writer = await victim.connect()
    writer.write(victim.head("GET", "/v1/me") * SILENT + victim.head("GET", "/v1/me", "Connection: close"))
    assert (await gone_in(reader, 60)).count(b"HTTP/1.1 200") == SILENT + 1
    writer.close()


async def gone_in(reader: asyncio.StreamReader, seconds: float) -> bytes:
    async with asyncio.timeout(seconds):
        return await reader.read()


# -- readers that do not read ------------------------------------------------------------------


async def test_who_stops_reading_is_dropped_and_comes_back_without_loss(victim: Victim) -> None:
    async with http(victim.process.url, victim.token) as ask:
        await ask.put("/sessions/much", json={})
        raw = _small_socket(victim.process.port)
        raw.sendall(victim.head("GET", "/v1/sessions/much/events", "Last-Event-ID: 0"))
        assert raw.recv(12) == b"HTTP/1.1 200"
        for _ in range(120):
            answer = await ask.post(f"/sessions/much/threads/{AGENT}/main/inject", json={"message": "x" * 100_000})
            assert answer.is_success
        last = (await ask.get("/sessions/much")).json()["last_position"]
        await until(lambda: victim.process.connections <= 1, 3 * GONE_S_MAX)
        places = places_in(await asyncio.to_thread(_rest, raw))
        assert places == list(range(1, len(places) + 1))
        assert len(places) < last, "it was dropped before all was sent"
        async with events(ask, "/sessions/much/events", last=places[-1] if places else 0) as stream:
            async for event in stream:
                places.append(int(event.id))
                if places[-1] == last:
                    break
    assert places == list(range(1, last + 1))


def places_in(said: bytes) -> list[int]:
    """The ids of the events that came whole."""
    events_ = [event.split(b"\n") for event in said.split(b"\n\n")[:-1]]
    return [int(line.removeprefix(b"id: ")) for event in events_ for line in event if line.startswith(b"id: ")]


def _small_socket(port: int) -> socket.socket:
    raw = socket.socket()
    raw.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4_096)
    raw.settimeout(GONE_S_MAX)
    raw.connect(("127.0.0.1", port))
    return raw


def _rest(raw: socket.socket) -> bytes:
    """What the machine still holds of it."""
    said = b""
    with raw, suppress(ConnectionError):
        while part := raw.recv(65_536):
            said += part
    return said


async def test_who_never_reads_its_answers_is_cut_off(victim: Victim) -> None:
    async with http(victim.process.url, victim.token) as ask:
        await ask.put("/sessions/long", json={})
        for _ in range(80):
            await ask.post(f"/sessions/long/threads/{AGENT}/main/inject", json={"message": "x" * 100_000})
        before = victim.process.resident_bytes
        with _small_socket(victim.process.port) as raw:
            raw.sendall(victim.head("GET", "/v1/sessions/long/timeline") * 3)
            await until(lambda: victim.process.connections > 1, ANSWER_S_MAX)
            await until(lambda: victim.process.connections <= 1, 3 * GONE_S_MAX)
        assert victim.process.resident_bytes - before < 100 * MEGABYTE


# -- what is said of it ------------------------------------------------------------------------


async def test_whatever_is_sent_the_log_has_a_line_of_ours_for_it_and_no_traceback(victim: Victim) -> None:
    """It comes last: the others have sent everything by then."""
    reader, writer = await victim.connect()
    writer.write(b"rubbish\r\n\r\n")
    assert answer_of(await gone(reader))[1]["code"] == "bad_request"
    writer.close()
    lines = [json.loads(line) for line in victim.process.log.read_text("utf-8").splitlines()]
    assert "request_unreadable" in {line["event"] for line in lines}
    assert [line for line in lines if "exception" in line or "logger" in line] == [], "others speak there"


# -- the end -----------------------------------------------------------------------------------


async def test_it_leaves_when_asked_whoever_holds_on(victim: Victim, tmp_path: Path) -> None:
    with gateway_process(victim.journal_url, tmp_path / "log") as process:
        mortal = Victim(process, victim.token, victim.journal_url)
        async with AsyncExitStack() as stack:
            for said in (
                b"",
                b"GET /v1/me HT",
                mortal.head("GET", "/v1/sessions/s/events"),
                mortal.head("POST", TURNS, "Content-Type: application/json", "Content-Length: 10"),
            ):
                _, writer = await mortal.connect()
                stack.callback(writer.close)
                writer.write(said)
            await mortal.still_answers()
            process.running.send_signal(signal.SIGTERM)
            assert await asyncio.to_thread(process.running.wait, 15) == 0


async def until(done: Callable[[], bool], seconds: float) -> None:
    """Wait for it, so long at most."""
    until_s = time.monotonic() + seconds
    while not done():
        assert time.monotonic() < until_s, "it never came to be"
        await asyncio.sleep(0.05)
