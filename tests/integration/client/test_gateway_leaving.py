"""A gateway that is stopped waits for nobody who follows: streams end whole, and go on at the next gateway."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import socket
import sys
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path

import pytest
import structlog
from fastapi import FastAPI
from starlette.types import Message

from tests.integration.client.asking import events, http
from tests.integration.client.gateway_server import running, serving, settings_of
from tests.integration.client.hands import AGENT
from tests.integration.client.program import NOBODY_THERE
from tests.integration.client.test_gateway_commands import submitted, token
from tests.integration.worker.test_tracing import collecting
from turnwright.client.gateway import leaving as module
from turnwright.client.gateway.app import create_app
from turnwright.client.gateway.connections import Connection
from turnwright.client.gateway.leaving import FAREWELL, Answer, Leaving
from turnwright.client.gateway.serve import server_of
from turnwright.journal.commands import CreateSession, PauseTurn, Submit
from turnwright.journal.driver import Driver
from turnwright.journal.errors import InvalidInput
from turnwright.journal.ids import ThreadKey, turn_id
from turnwright.journal.messages import user

DEADLINE_S = 60
LOOKS_STUCK = 100
START: Message = {"type": "http.response.start", "status": 200, "headers": []}


@dataclass
class GatewayProcess:
    """A real `turnwright gateway` and its log."""

    process: asyncio.subprocess.Process
    log: list[dict[str, object]] = field(default_factory=list)

    async def line(self) -> dict[str, object] | None:
        """The next line of its log."""
        assert self.process.stderr is not None
        read = await self.process.stderr.readline()
        if not read:
            return None
        self.log.append(json.loads(read))
        return self.log[-1]


async def begun(journal_url: str) -> asyncio.subprocess.Process:
    told = {"JOURNAL_URL": journal_url, "TEMPORAL_ADDRESS": NOBODY_THERE, "GATEWAY_PORT": "0", "LOG_FORMAT": "json"}
    return await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "turnwright.worker.main", "gateway"),
        env=os.environ | {f"TURNWRIGHT_{name}": value for name, value in told.items()},
        stderr=asyncio.subprocess.PIPE,
    )


@asynccontextmanager
async def gateway(journal_url: str) -> AsyncIterator[tuple[GatewayProcess, str]]:
    process = await begun(journal_url)
    one = GatewayProcess(process)
    try:
        async with asyncio.timeout(DEADLINE_S):
            while (line := await one.line()) and line["event"] != "gateway_listening":
                pass
        assert line is not None, one.log
        yield one, str(line["url"])
    finally:
        if process.returncode is None:
            process.kill()
        await process.wait()


@pytest.mark.parametrize("journal_url", ["sqlite"], indirect=True)
async def test_a_gateway_that_is_stopped_ends_its_streams_and_leaves_while_they_are_held(
    journal_url: str, driver: Driver
) -> None:
    bearer = await token(driver, "admin")
    async with AsyncExitStack() as held, gateway(journal_url) as (stopped, url):
        ask = await held.enter_async_context(http(url, bearer))
        turn = (await submitted(ask))["turn_id"]
        main = f"/sessions/s/threads/{AGENT}/main"
        paths = ["/sessions/s/events", f"/turns/{turn}/events", f"{main}/events?deltas=true", f"{main}/changes"]
        streams, began = [], []
        for path in paths:
            answer = await held.enter_async_context(ask.stream("GET", path))
            streams.append(answer.aiter_lines())
            began.append(await anext(streams[-1]))
        stopped.process.send_signal(signal.SIGTERM)
        async with asyncio.timeout(DEADLINE_S):
            rest = [[line async for line in lines if line] for lines in streams]
            assert await stopped.process.wait() == 0  # nobody has let go of a connection
            while await stopped.line():
                pass
    assert "leaving_cut" not in {line["event"] for line in stopped.log}
    for path, lines in zip(paths, rest, strict=True):
        assert lines[-1] == FAREWELL.decode().strip(), path
        assert "event: end" not in lines, path
    assert [line for line in stopped.log if line["level"] == "error"] == []
    last = int(began[0].removeprefix("id: "))
    async with serving(settings_of(journal_url)) as url, http(url, bearer) as ask:
        await submitted(ask)
        async with events(ask, "/sessions/s/events", last=last) as stream:
            assert int((await anext(stream)).id) == last + 1


async def test_a_gateway_without_a_journal_says_so_on_one_line_and_never_that_it_listens(tmp_path: Path) -> None:
    async with asyncio.timeout(DEADLINE_S):
        process = await begun(f"sqlite:///{tmp_path / 'none.db'}")
        _, said = await process.communicate()
    assert process.returncode == 3
    [line] = said.decode().splitlines()
    assert line.startswith("error: there is no journal at")


@pytest.mark.parametrize("journal_url", ["sqlite"], indirect=True)
async def test_a_gateway_that_is_stopped_with_ctrl_c_leaves_with_0_too(journal_url: str, driver: Driver) -> None:
    async with asyncio.timeout(DEADLINE_S), gateway(journal_url) as (stopped, _):
        stopped.process.send_signal(signal.SIGINT)
        assert await stopped.process.wait() == 0


@pytest.mark.parametrize("journal_url", ["sqlite"], indirect=True)
async def test_who_takes_nothing_does_not_hold_up_the_stop(journal_url: str, driver: Driver) -> None:
    """The server would wait for what it has not sent yet, and say so when it waits no longer."""
    server = server_of(settings_of(journal_url))
    with structlog.testing.capture_logs() as logs:
        async with running(server) as url, http(url, await token(driver, "admin")) as ask:
            await ask.put("/sessions/s", json={})
            for _ in range(100):
                await ask.post(f"/sessions/s/threads/{AGENT}/main/inject", json={"message": "x" * 100_000})
            host, port = url.removeprefix("http://").split(":")
            with socket.socket() as raw:
                raw.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4_096)
                raw.connect((host, int(port)))
                bearer = ask.headers["Authorization"]
                head = f"GET /v1/sessions/s/events?after=0 HTTP/1.1\r\nHost: g\r\nAuthorization: {bearer}\r\n\r\n"
                raw.sendall(head.encode())
                async with asyncio.timeout(DEADLINE_S):
                    looks = 0
                    while looks < LOOKS_STUCK:  # at first the system's own buffers grow
                        connections = server.server_state.connections
                        stuck = any(isinstance(one, Connection) and one.flow.write_paused for one in connections)
                        looks = looks + 1 if stuck else 0
                        await asyncio.sleep(0.01)
                    server.should_exit = True
                    while server.started and server.server_state.connections:
                        await asyncio.sleep(0.01)
    said = [line["event"] for line in logs]
    assert "connection_cut" in said
    assert "leaving_cut" not in said


def messages_to(sent: list[Message]) -> Answer:
    async def send(message: Message) -> None:
        sent.append(message)

    return Answer(send)


async def for_ever() -> None:
    await asyncio.Event().wait()


async def test_a_stream_that_begins_while_the_server_leaves_is_begun_and_ended() -> None:
    leaving, sent = Leaving(), list[Message]()
    answer = messages_to(sent)
    leaving.begin()
    word = await leaving.cut_short(asyncio.Event().wait(), for_ever)
    assert word == FAREWELL
    await answer.end(START, word)
    assert sent == [START, {"type": "http.response.body", "body": FAREWELL}]


async def test_a_stream_that_has_ended_is_not_ended_twice() -> None:
    leaving, sent = Leaving(), list[Message]()
    answer = messages_to(sent)

    async def tell() -> None:
        await answer.send(START)
        await answer.send({"type": "http.response.body", "body": b""})
        leaving.begin()

    word = await leaving.cut_short(tell(), for_ever)
    await answer.end(START, word or b"")
    assert len(sent) == 2


async def test_a_stream_that_fails_for_its_own_lateness_is_not_taken_for_one_that_was_ended() -> None:
    async def tell() -> None:
        raise TimeoutError("the reader takes nothing")

    with pytest.raises(TimeoutError, match="takes nothing"):
        await Leaving().cut_short(tell(), for_ever)


async def test_a_reader_that_takes_nothing_is_not_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "FAREWELL_S", 0.01)

    async def send(_: Message) -> None:
        await asyncio.Event().wait()

    await Answer(send).end(START, FAREWELL)


async def test_a_gateway_that_is_cut_off_has_sent_the_spans_of_what_it_committed(
    driver: Driver, journal_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def serve_for_a_moment(app: FastAPI) -> None:
        async with app.router.lifespan_context(app):
            journal = app.state.desk.journal
            key = ThreadKey("acme", "ann", AGENT, "s")
            await journal.execute(key.session_key, CreateSession(request_id="create"))
            submit = Submit(request_id="one", turn_id=turn_id(key, "one"), input=user("hello"))
            await journal.execute(key, submit)
            await journal.execute(key, PauseTurn(request_id="pause", turn_id=submit.turn_id))
            raise RuntimeError("cut off")

    with collecting() as (collector, sent):
        monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", collector)
        with pytest.raises(RuntimeError, match="cut off"):
            await serve_for_a_moment(create_app(settings_of(journal_url)))
    assert b"turn.paused" in b"".join(sent)


async def test_what_a_gateway_cannot_begin_for_is_said(
    driver: Driver, journal_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OTEL_TRACES_EXPORTER", "zipkin")
    with pytest.raises(InvalidInput, match="OTEL_TRACES_EXPORTER=zipkin is not known here"):
        await server_of(settings_of(journal_url)).serve()
