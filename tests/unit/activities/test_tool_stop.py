"""Timeouts and cancels: a body that stops, one that answers late, and one that does not care."""

import asyncio
import sys
import threading
from typing import Any

import pytest

from tests.unit.activities.calling import HOST, PATIENT, run, text
from turnwright.activities.tool_context import ToolContext
from turnwright.activities.tool_host import ToolAbandoned, ToolHost, ToolOutcome
from turnwright.activities.tools import Tool, tool


async def test_an_async_tool_that_takes_too_long_is_cancelled_and_told_as_an_error() -> None:
    ended = asyncio.Event()

    @tool(timeout_s=0.01)
    async def sleep() -> None:
        """Sleep."""
        try:
            await asyncio.Event().wait()
        finally:
            ended.set()

    outcome = await run(sleep)
    assert outcome.result.outcome == "error"
    assert "did not finish within 0.01 s" in text(outcome)
    assert outcome.effect_unknown is False
    assert ended.is_set()


async def test_a_sync_tool_that_takes_too_long_and_ignores_it_leaves_its_effect_unknown() -> None:
    release = threading.Event()

    @tool(timeout_s=0.01)
    def hang() -> None:
        """Hang."""
        release.wait()

    outcome = await run(hang)
    release.set()
    assert outcome.result.outcome == "error"
    assert outcome.effect_unknown is True


async def started(known: Tool[..., Any], host: ToolHost, begun: threading.Event) -> asyncio.Task[ToolOutcome]:
    task = asyncio.create_task(run(known, host))
    while not begun.is_set():
        await asyncio.sleep(0.001)
    return task


async def test_cancel_reaches_an_async_tool() -> None:
    begun, cleaned = threading.Event(), []

    @tool
    async def wait() -> None:
        """Wait."""
        begun.set()
        try:
            await asyncio.Event().wait()
        finally:
            cleaned.append("up")

    task = await started(wait, PATIENT, begun)
    task.cancel()
    with pytest.raises(asyncio.CancelledError) as caught:
        await task
    assert not isinstance(caught.value, ToolAbandoned)
    assert cleaned == ["up"]


async def test_a_sync_tool_sees_the_cancel_and_its_result_is_kept() -> None:
    begun = threading.Event()

    @tool
    def count(ctx: ToolContext) -> str:
        """Count."""
        begun.set()
        ctx.cancel_requested.wait()
        return "stopped at 3 of 10"

    task = await started(count, PATIENT, begun)
    task.cancel()
    outcome = await task
    assert (outcome.result.outcome, text(outcome)) == ("success", "stopped at 3 of 10")
    assert not task.cancelled()


async def test_a_tool_that_ignores_cancel_is_abandoned_after_the_grace() -> None:
    begun, release = threading.Event(), threading.Event()

    @tool
    def hang() -> None:
        """Hang."""
        begun.set()
        release.wait()

    task = await started(hang, HOST, begun)
    task.cancel()
    with pytest.raises(ToolAbandoned):
        await task
    release.set()


async def test_an_async_tool_that_swallows_cancel_and_goes_on_is_abandoned_after_the_grace() -> None:
    begun, release = threading.Event(), asyncio.Event()

    @tool
    async def stubborn() -> None:
        """Go on."""
        begun.set()
        while not release.is_set():
            try:
                await release.wait()
            except asyncio.CancelledError:
                continue

    task = await started(stubborn, HOST, begun)
    task.cancel()
    with pytest.raises(ToolAbandoned):
        await task
    release.set()


async def test_a_hanging_thread_does_not_keep_the_process_alive() -> None:
    code = (
        "import asyncio, threading\n"
        "from turnwright.activities.tool_body import in_thread\n"
        "async def main():\n"
        "    try:\n"
        "        await asyncio.wait_for(in_thread(threading.Event().wait), 0.01)\n"
        "    except TimeoutError:\n"
        "        print('left')\n"
        "asyncio.run(main())\n"
    )
    process = await asyncio.create_subprocess_exec(sys.executable, "-c", code, stdout=asyncio.subprocess.PIPE)
    out, _ = await asyncio.wait_for(process.communicate(), 60)
    assert (out.strip(), process.returncode) == (b"left", 0)


async def test_sixty_sync_tools_wait_at_once() -> None:
    gate = threading.Barrier(60, timeout=30)

    @tool
    def meet() -> str:
        """Meet."""
        gate.wait()
        return "met"

    outcomes = await asyncio.gather(*(run(meet) for _ in range(60)))
    assert {text(outcome) for outcome in outcomes} == {"met"}
