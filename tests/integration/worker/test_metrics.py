"""The numbers of a worker and of a gateway: what they did, what the journal holds, and whether they are at work."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import AsyncIterator
from functools import partial
from pathlib import Path

import httpx2
import pytest
from prometheus_client.parser import text_string_to_metric_families

from tests.integration.client.gateway_server import serving, settings_of
from tests.integration.client.program import NOBODY_THERE
from tests.integration.runtime.scripts import call, say
from tests.integration.worker.stack import Stack, WorkerUnderTest
from turnwright.client.metrics.address import Address
from turnwright.client.metrics.beside import Beside
from turnwright.client.metrics.listener import Listener
from turnwright.client.metrics.meters import Meters
from turnwright.client.metrics.page import Page
from turnwright.client.wakes import Wakes
from turnwright.journal.commands import CreateSession, Submit
from turnwright.journal.driver import Driver
from turnwright.journal.errors import InvalidInput
from turnwright.journal.ids import ThreadKey, turn_id
from turnwright.journal.messages import user
from turnwright.journal.store import Journal
from turnwright.worker import loopback
from turnwright.worker.temporal_server import TemporalServer

Numbers = dict[tuple[str, ...], float]
KEY = ThreadKey("acme", None, "bot", "s")


@pytest.fixture
async def stack(tmp_path: Path, journal_url: str, temporal: TemporalServer) -> AsyncIterator[Stack]:
    async with Stack.open(tmp_path, journal_url, temporal) as stack:
        yield stack


def numbers_of(text: str) -> Numbers:
    """Values by name and labels' values, in the order of the labels' names."""
    return {
        (sample.name, *(value for _, value in sorted(sample.labels.items()))): sample.value
        for family in text_string_to_metric_families(text)
        for sample in family.samples
    }


async def shown_by(worker: WorkerUnderTest) -> str:
    return str((await worker.until_said("metrics_listening"))["url"])


@pytest.mark.slow
async def test_a_worker_shows_what_it_did_and_whether_it_takes_work(stack: Stack) -> None:
    worker = await stack.ready_worker(metrics_port=0)
    async with httpx2.AsyncClient(base_url=await shown_by(worker)) as http:
        before = numbers_of((await http.get("/metrics")).text)
        assert before["turnwright_turns_ended_total", "bot", "model_error", "failed"] == 0
        assert before["turnwright_tool_calls_total", "lost", "add"] == 0
        turn = await stack.submit(call("add", a=1, b=2), say("It is {result}."))
        await turn.result(timeout_s=30)
        await http.get("/metrics")  # with the zeros of what is new
        found = numbers_of((await http.get("/metrics")).text)
        assert found["turnwright_model_seconds_count", "scripted:test"] == 2
        assert found["turnwright_tool_seconds_count", "success", "add"] == 1
        assert found["turnwright_turns_ended_total", "bot", "", "completed"] == 1
        assert found["turnwright_turn_seconds_count", "bot", "completed"] == 1
        assert found["turnwright_model_tokens_total", "output", "scripted:test"] > 0
        assert found["turnwright_turns", "running"] == 0
        assert found["turnwright_turn_queue_seconds_count", "bot"] == 1
        assert found["turnwright_runs_total", "bot"] == 1
        assert found["turnwright_journal_up",] == 1
        assert found["turnwright_temporal_up",] == 1
        assert found["turnwright_step_seconds_count", "model"] == 2
        assert found["turnwright_step_seconds_count", "tools"] == 1
        assert found["turnwright_rescues_total", "stalled"] == 0
        assert [name for name in found if name[0] == "temporal_worker_task_slots_available"], "the SDK's own"
        assert (await http.get("/readyz")).text == "ready\n"
        assert (await http.get("/livez")).text == "alive\n"
        assert (await http.get("/elsewhere")).status_code == httpx2.codes.NOT_FOUND
    worker.send(signal.SIGTERM)
    assert await worker.ended() == 0


async def test_a_gateway_shows_the_turns_it_accepted_and_goes_on_without_its_journal(
    driver: Driver, journal_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    meters, journal = Meters(), Journal(driver)
    page = Page(meters)
    page.journal = journal
    driver.observers.append(meters.committed)
    listener = Listener(page, lambda: "", "127.0.0.1", 0)
    await listener.start()
    try:
        await journal.execute(KEY.session_key, CreateSession(request_id="create"))
        command = Submit(request_id="one", turn_id=turn_id(KEY, "one"), input=user("hello"))
        await asyncio.gather(*(journal.execute(KEY, command) for _ in range(3)))
        async with httpx2.AsyncClient(base_url=listener.url) as http:
            first = numbers_of((await http.get("/metrics")).text)
            assert first["turnwright_turns_queued_total", "bot"] == 0, "a rise from there is seen"
            found = numbers_of((await http.get("/metrics")).text)
            assert found["turnwright_turns_queued_total", "bot"] == 1
            assert found["turnwright_turns", "queued"] == 1
            assert found["turnwright_turns", "running"] == 0
            assert found["turnwright_questions_open", "budget"] == 0
            assert found["turnwright_threads_due",] == 1  # nobody sweeps here
            assert found["turnwright_turns_ready",] == 1
            assert found["turnwright_commit_seconds_count",] >= 2
            monkeypatch.setattr("turnwright.client.metrics.page.SAMPLE_AGE_S_MAX", 0)
            await driver.stop()
            without = numbers_of((await http.get("/metrics")).text)
            assert without["turnwright_journal_up",] == 0
            assert ("turnwright_turns", "queued") not in without
            assert without["turnwright_turns_queued_total", "bot"] == 1
    finally:
        await listener.stop()


@pytest.mark.slow
async def test_a_worker_that_finds_no_temporal_says_so(stack: Stack) -> None:
    worker = await stack.worker(metrics_port=0, temporal_address=NOBODY_THERE)
    await worker.until_said("waiting")
    async with httpx2.AsyncClient(base_url=await shown_by(worker)) as http:
        assert numbers_of((await http.get("/metrics")).text)["turnwright_temporal_up",] == 0


async def test_a_gateway_knows_whether_temporal_takes_wake_ups_and_when_it_is_back(
    driver: Driver, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("turnwright.client.metrics.page.SAMPLE_AGE_S_MAX", 0)
    server = TemporalServer(port=loopback.find_free())
    wakes = Wakes(Journal(driver), partial(server.connect, lazy=True), None)
    page = Page(Meters(), Beside(wakes.look))
    name = ("turnwright_temporal_up",)
    try:
        assert name not in numbers_of((await page.made()).text.decode())
        wakes.send(KEY)
        assert not await wakes.flush(30)
        assert numbers_of((await page.made()).text.decode())[name] == 0
        await server.start()
        assert numbers_of((await page.made()).text.decode())[name] == 1
        assert wakes.failure is None
    finally:
        await wakes.close(1)
        await server.stop()


async def test_a_gateway_shows_its_numbers_on_a_port_of_their_own_and_not_to_its_callers(
    driver: Driver, journal_url: str, unused_tcp_port: int
) -> None:
    settings = settings_of(journal_url, metrics=Address("127.0.0.1", unused_tcp_port))
    async with serving(settings) as url, httpx2.AsyncClient() as http:
        shown = await http.get(f"http://127.0.0.1:{unused_tcp_port}/metrics")
        assert numbers_of(shown.text)["turnwright_journal_up",] == 1
        assert (await http.get(f"{url}/metrics")).status_code == httpx2.codes.NOT_FOUND


async def test_a_port_that_is_taken_is_said_by_name(driver: Driver, journal_url: str) -> None:
    page = Page(Meters())
    first = Listener(page, lambda: "", "127.0.0.1", 0)
    await first.start()
    try:
        port = int(first.url.rpartition(":")[2])
        with pytest.raises(InvalidInput, match=f"cannot listen on 127.0.0.1:{port}"):
            await Listener(page, lambda: "", "127.0.0.1", port).start()
    finally:
        await first.stop()
