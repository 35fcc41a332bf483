"""A gateway that is stopped waits for nobody who follows: streams end whole, and go on at the next gateway."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import sys
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field

import pytest
from starlette.types import Message

from tests.integration.client.asking import events, http
from tests.integration.client.gateway_server import serving, settings_of
from tests.integration.client.hands import AGENT
from tests.integration.client.program import NOBODY_THERE
from tests.integration.client.test_gateway_commands import submitted, token
from turnwright.client.gateway import leaving as module
from turnwright.client.gateway.leaving import FAREWELL, Answer, Leaving
from turnwright.journal.driver import Driver

DEADLINE_S = 60
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


@asynccontextmanager
async def gateway(journal_url: str) -> AsyncIterator[tuple[GatewayProcess, str]]:
    told = {"JOURNAL_URL": journal_url, "TEMPORAL_ADDRESS": NOBODY_THERE, "GATEWAY_PORT": "0", "LOG_FORMAT": "json"}
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "turnwright.worker.main", "gateway"),
        env=os.environ | {f"TURNWRIGHT_{name}": value for name, value in told.items()},
        stderr=asyncio.subprocess.PIPE,
    )
    running = GatewayProcess(process)
    try:
        async with asyncio.timeout(DEADLINE_S):
            while (line := await running.line()) and line["event"] != "gateway_listening":
                pass
        assert line is not None, running.log
        yield running, str(line["url"])
    finally:
        if process.returncode is None:
            process.kill()
        await process.wait()


@pytest.mark.parametrize("journal_url", ["sqlite"], indirect=True)
async def test_a_gateway_that_is_stopped_ends_its_streams_and_leaves_while_they_are_held(
    journal_url: str, driver: Driver
) -> None:
    bearer = await token(driver, "admin")
    async with AsyncExitStack() as held, gateway(journal_url) as (running, url):
        ask = await held.enter_async_context(http(url, bearer))
        turn = (await submitted(ask))["turn_id"]
        main = f"/sessions/s/threads/{AGENT}/main"
        paths = ["/sessions/s/events", f"/turns/{turn}/events", f"{main}/events?deltas=true", f"{main}/changes"]
        streams, began = [], []
        for path in paths:
            answer = await held.enter_async_context(ask.stream("GET", path))
            streams.append(answer.aiter_lines())
            began.append(await anext(streams[-1]))
        running.process.send_signal(signal.SIGTERM)
        async with asyncio.timeout(DEADLINE_S):
            rest = [[line async for line in lines if line] for lines in streams]
            await running.process.wait()  # nobody has let go of a connection
            while await running.line():
                pass
    for path, lines in zip(paths, rest, strict=True):
        assert lines[-1] == FAREWELL.decode().strip(), path
        assert "event: end" not in lines, path
    assert [line for line in running.log if line["level"] == "error"] == []
    last = int(began[0].removeprefix("id: "))
    async with serving(settings_of(journal_url)) as url, http(url, bearer) as ask:
        await submitted(ask)
        async with events(ask, "/sessions/s/events", last=last) as stream:
            assert int((await anext(stream)).id) == last + 1


def messages_to(sent: list[Message]) -> Answer:
    async def send(message: Message) -> None:
        sent.append(message)

    return Answer(send)


async def test_a_stream_that_begins_while_the_server_leaves_is_begun_and_ended() -> None:
    leaving, sent = Leaving(), list[Message]()
    answer = messages_to(sent)
    leaving.begin()
    assert await leaving.cut_short(asyncio.Event().wait())
    await answer.end(START)
    assert sent == [START, {"type": "http.response.body", "body": FAREWELL}]


async def test_a_stream_that_has_ended_is_not_ended_twice() -> None:
    leaving, sent = Leaving(), list[Message]()
    answer = messages_to(sent)

    async def tell() -> None:
        await answer.send(START)
        await answer.send({"type": "http.response.body", "body": b""})
        leaving.begin()

    await leaving.cut_short(tell())
    await answer.end(START)
    assert len(sent) == 2


async def test_a_stream_that_fails_for_its_own_lateness_is_not_taken_for_one_that_was_ended() -> None:
    async def tell() -> None:
        raise TimeoutError("the reader takes nothing")

    with pytest.raises(TimeoutError, match="takes nothing"):
        await Leaving().cut_short(tell())


async def test_a_reader_that_takes_nothing_is_not_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "FAREWELL_S", 0.01)

    async def send(_: Message) -> None:
        await asyncio.Event().wait()

    await Answer(send).end(START)
