"""A session that several turns share: what one of them meets ends nothing of another's, and asks nobody else."""

from __future__ import annotations

import asyncio
import threading
from pathlib import Path

import pytest
from structlog.testing import capture_logs

from tests.integration.runtime.mcp_http import HttpServer
from tests.integration.sources.opened import DEADLINE_S, Opened, given_up, plain, starts, until, until_traced
from turnwright.activities import McpServer
from turnwright.activities.sources.port import SourceAway

ASKED = "Really?"


def sessions() -> int:
    return sum(task.get_name() == "mcp shop" for task in asyncio.all_tasks())


def http(server: HttpServer, **options: object) -> McpServer:
    return McpServer.http("shop", server.url, **options)  # type: ignore[arg-type] # as a test says them


async def why_away(opened: Opened) -> str:
    """Ask for the list until it has to be asked for: that it has changed may be heard only now."""
    async with asyncio.timeout(DEADLINE_S):
        while True:
            try:
                await opened.list()
            except SourceAway as away:
                return str(away)
            await asyncio.sleep(0.01)


async def test_a_list_that_comes_too_late_ends_nobody_elses_call(tmp_path: Path) -> None:
    log, gate = tmp_path / "log", tmp_path / "gate"
    async with Opened.of(plain(log, "single", connect_timeout_s=2)) as opened:
        long = opened.begin("send", "long", log=str(log), wait_for=str(gate))
        await until_traced(log, "started long")
        assert "did not list its tools within 2 s" in await why_away(opened)
        gate.touch()
        assert await long == "done"
        await opened.list()
        assert await opened.call("echo", "next", text="the same program") == "the same program"
    assert starts(log) == 1


async def test_a_server_that_is_stuck_is_begun_anew_when_its_calls_are_over(tmp_path: Path) -> None:
    log, gate = tmp_path / "log", tmp_path / "gate"
    async with Opened.of(plain(log, "single", connect_timeout_s=2)) as opened:
        stuck = opened.begin("send", "stuck", log=str(log), wait_for=str(tmp_path / "never"))
        await until_traced(log, "started stuck")
        assert "did not list its tools" in await why_away(opened)
        behind = opened.begin("send", "behind", log=str(log), wait_for=str(gate))
        await given_up(stuck)
        await opened.list()
        assert starts(log) == 2
        assert await opened.call("echo", "next", text="a new program") == "a new program"
        assert not behind.done()
        await given_up(behind)


async def test_a_late_question_of_a_call_given_up_is_not_put_to_another(tmp_path: Path) -> None:
    log, late, gate = tmp_path / "log", tmp_path / "late", tmp_path / "gate"
    async with Opened.of(plain(log, effect="idempotent")) as opened:
        first = opened.begin("confirm", "first", log=str(log), wait_for=str(late))
        await until_traced(log, "started first")
        await given_up(first)
        second = opened.begin("send", "second", log=str(log), wait_for=str(gate))
        await until_traced(log, "started second")
        with capture_logs() as logs:
            late.touch()
            await until_traced(log, 'answered {"action": "cancel"}')
        gate.touch()
        assert await second == "done"
        (said,) = [one for one in logs if one["event"] == "mcp_question_not_asked"]
        assert said["reason"] == "a call that was given up may have asked it"
        assert await opened.call("confirm", "third", log=str(log)) == ASKED
    assert starts(log) == 2


async def test_who_asked_keeps_nobody_after_it_from_asking(tmp_path: Path) -> None:
    log = tmp_path / "log"
    async with Opened.of(plain(log, effect="idempotent")) as opened:
        assert await opened.call("confirm", "first", log=str(log)) == ASKED
        assert await opened.call("confirm", "second", log=str(log)) == ASKED
    assert starts(log) == 1


async def test_calls_over_http_that_ask_at_the_same_time_are_told_apart() -> None:
    async with HttpServer.started(modern=False) as server, Opened.of(http(server, effect="idempotent")) as opened:
        asked = await asyncio.gather(*(opened.call("order", item, item=item) for item in ("socks", "hats")))
    assert asked == ["Which size of socks?", "Which size of hats?"]


async def test_a_session_the_server_has_forgotten_ends_though_nobody_calls() -> None:
    async with HttpServer.started(modern=False) as server, Opened.of(http(server)):
        assert sessions() == 1
        await server.begin_anew()
        await until(lambda: sessions() == 0)


@pytest.mark.parametrize("kind", ["async", "sync"])
async def test_headers_are_asked_for_outside_the_workers_loop_or_awaited(kind: str) -> None:
    asked_in: list[threading.Thread] = []

    def headers() -> dict[str, str]:
        asked_in.append(threading.current_thread())
        return {"X-Key": "sesame"}

    async def awaited() -> dict[str, str]:
        await asyncio.sleep(0)
        return headers()

    async with HttpServer.started() as server:
        shop = McpServer.http("shop", server.url, headers=awaited if kind == "async" else headers)
        async with Opened.of(shop) as opened:
            assert await opened.call("who_asks", "first") == "sesame"
    assert [thread is threading.main_thread() for thread in asked_in] == [kind == "async"]


async def test_headers_that_do_not_come_hold_up_nobody_without_end() -> None:
    never = threading.Event()
    shop = McpServer.http(
        "shop", "http://127.0.0.1:9/mcp", headers=lambda: {"X": str(never.wait())}, connect_timeout_s=1
    )
    with pytest.raises(SourceAway, match=r"headers= gave none within 0\.5 s"):
        async with Opened.of(shop):
            pass
    never.set()


async def test_headers_that_fail_are_what_is_wrong() -> None:
    known: dict[str, dict[str, str]] = {}
    shop = McpServer.http("shop", "http://127.0.0.1:9/mcp", headers=lambda: known["shop"])
    with pytest.raises(SourceAway, match="headers= failed: KeyError"):
        async with Opened.of(shop):
            pass
