"""Whatever is sent to a stream or as a run is taken or refused; nothing of it is a fault of the gateway's."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from itertools import cycle
from typing import Any

import httpx2
import pytest
import structlog

from tests.integration.client.agui_front_end import PATH, run_input, said
from tests.integration.client.asking import http
from tests.integration.client.gateway_server import serving, settings_of
from tests.integration.client.hands import AGENT, Hands
from tests.integration.client.test_gateway_commands import submitted, token
from turnwright.client import Client
from turnwright.client.gateway.agui.run import RESUMED_MAX
from turnwright.journal.driver import Driver

UNBOUNDED = 1_000_000
AT_ONCE = 16
ODD_TEXTS = ("", "\x00", "a\x00b", "\ud800", "\udc00\ud800", "x" * 201, "😀" * 200, "../..", "a/b:c", "\n", "%00", "{}")
ODD: tuple[Any, ...] = (*ODD_TEXTS, None, True, -1, 2**63, 10**4_000, 1.5, float("nan"), float("inf"), [], {}, [[]])
HARMFUL = ("\ud800", "a\x00b", 10**4_000)
ODD_PLACES = (*ODD_TEXTS[:5], "-1", "+1", "1_0", "9" * 17, "9" * 5_000, "٣", "1,2")
EVENTS = (f"/sessions/s/threads/{AGENT}/main/events", "/sessions/s/events")


@asynccontextmanager
async def asked(driver: Driver, journal_url: str) -> AsyncIterator[httpx2.AsyncClient]:
    """A gateway that refuses nothing for being too much."""
    settled = settings_of(
        journal_url, requests_per_s=UNBOUNDED, requests_at_once=UNBOUNDED, streams_max=UNBOUNDED, heartbeat_s=0.05
    )
    async with serving(settled) as url, http(url, await token(driver, "admin")) as ask:
        yield ask


@pytest.fixture
def faults(caplog: pytest.LogCaptureFixture) -> Iterator[list[Any]]:
    """What was logged as an error while the test ran; it fails if that is anything."""
    with structlog.testing.capture_logs() as logs:
        found: list[Any] = []
        yield found
    found += [one for one in logs if one["log_level"] in ("error", "critical")]
    found += [one.getMessage() for one in caplog.records if one.levelname in ("ERROR", "CRITICAL")]
    assert not found


async def status(ask: httpx2.AsyncClient, method: str, path: str, **more: Any) -> int:  # noqa: ANN401
    """The status of an answer of which only a little is read."""
    async with ask.stream(method, path, **more) as answer:
        async for part in answer.aiter_bytes():
            if answer.status_code != httpx2.codes.OK:
                assert json.loads(part)["code"]
            break
        assert answer.status_code < 500, (method, path, more)
        return answer.status_code


@pytest.mark.usefixtures("faults")
async def test_a_stream_is_begun_at_a_place_or_refused_and_never_breaks(driver: Driver, journal_url: str) -> None:
    async with asked(driver, journal_url) as ask:
        turn = await submitted(ask)
        paths = (*EVENTS, f"/turns/{turn['turn_id']}/events")
        await at_once(ask, [("GET", path, one) for path in paths for one in odd_places()])


@pytest.mark.usefixtures("faults")
async def test_a_run_of_any_shape_is_told_to_its_end_or_refused(
    driver: Driver, journal_url: str, client: Client, hands: Hands
) -> None:
    async with asked(driver, journal_url) as ask:
        turn = await submitted(ask)
        await hands.finish(await client.turn(turn["turn_id"]))
        await at_once(ask, [("POST", PATH, one) for one in odd_runs()])


async def at_once(ask: httpx2.AsyncClient, requests: list[tuple[str, str, dict[str, Any]]]) -> None:
    for begin in range(0, len(requests), AT_ONCE):
        several = requests[begin : begin + AT_ONCE]
        await asyncio.gather(*(status(ask, method, path, **more) for method, path, more in several))


def odd_places() -> Iterator[dict[str, Any]]:
    """Requests for a stream, each from a place that is none, or hardly one."""
    yield {"headers": {"Last-Event-ID": "9" * 16}}
    for odd in ODD_PLACES:
        given = odd.encode(errors="surrogatepass")
        yield {"params": [("after", given), ("deltas", "0")]}
        yield {"params": [("deltas", given), ("after", "0"), ("after", given)]}
        if odd.isprintable():
            yield {"headers": [(b"Last-Event-ID", given), (b"Last-Event-ID", b"1"), *[(b"X-More", given)] * 3]}


def odd_runs() -> Iterator[dict[str, Any]]:
    """Requests, each with something in it that no front end would send."""
    others = cycle(ODD)
    for n, place in enumerate(places(whole_run("odd"))):
        for odd in (*HARMFUL, next(others)):
            run = whole_run(f"odd-{n}")
            if place[0] != "resume":
                del run["resume"]
            put(run, place, odd)
            yield sent(json.dumps(run))
    for count in (RESUMED_MAX, RESUMED_MAX + 1):
        yield sent(json.dumps(run_input("many", resume=[{"interruptId": "i", "status": "resolved"}] * count)))
    yield sent(json.dumps(run_input("twice", *[said("again")] * 1_000)))
    for nested in ("[" * 90 + "]" * 90, '{"a":' * 300 + "1" + "}" * 300, "[" * 100_000, "1" * 5_000, "NaN", "", "\x00"):
        yield sent(nested)
        yield sent(json.dumps(run_input("deep", said("deep")) | {"state": "@"}).replace('"@"', nested))
    for content_type in (
        "text/plain",
        "application/xml",
        "multipart/form-data; boundary=x",
        "application/json; q=\xff",
    ):
        yield sent(json.dumps(run_input("typed", said("typed"))), content_type)
    yield {"content": b'{"runId": "\xff"}', "headers": {"Content-Type": "application/json"}}


def sent(body: str, content_type: str = "application/json") -> dict[str, Any]:
    return {"content": body.encode(), "headers": [(b"Content-Type", content_type.encode("latin-1"))]}


def whole_run(run_id: str) -> dict[str, Any]:
    """A run with everything in it that the protocol has."""
    image = {
        "type": "image",
        "source": {"type": "url", "value": "https://shop.example.com/a.png", "mimeType": "image/png"},
    }
    run = run_input(run_id, said("before"), said("now", "m-2") | {"content": [{"type": "text", "text": "now"}, image]})
    run["tools"] = [{"name": "look", "description": "Look.", "parameters": {"type": "object"}}]
    run["context"] = [{"description": "the page", "value": "orders"}]
    run |= {"state": {"a": [1]}, "forwardedProps": {"b": None}, "parentRunId": "r-0"}
    run["resume"] = [{"interruptId": "i-1", "status": "resolved", "payload": {"approved": True}}]
    return run


def places(value: Any, before: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:  # noqa: ANN401 - any JSON
    """The way to each part of a JSON value."""
    for key in value if isinstance(value, dict) else range(len(value)):
        yield (*before, key)
        if isinstance(value[key], dict | list):
            yield from places(value[key], (*before, key))


def put(value: Any, place: tuple[Any, ...], odd: Any) -> None:  # noqa: ANN401 - any JSON
    for key in place[:-1]:
        value = value[key]
    value[place[-1]] = odd
