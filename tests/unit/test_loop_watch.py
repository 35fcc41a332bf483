"""The watch over the event loop is one timer and one thread, however often it is started."""

import asyncio
from collections.abc import Callable

import pytest

from turnwright.worker.loop_watch import LoopWatch


async def test_a_watch_that_is_stopped_and_started_again_at_once_is_one_watch(monkeypatch: pytest.MonkeyPatch) -> None:
    loop, timers = asyncio.get_running_loop(), list[asyncio.TimerHandle]()
    call_later = loop.call_later

    def noting(delay: float, callback: Callable[..., object], *args: object) -> asyncio.TimerHandle:
        timers.append(call_later(delay, callback, *args))
        return timers[-1]

    monkeypatch.setattr(loop, "call_later", noting)
    watch = LoopWatch()
    await watch.start()
    first = watch._ending
    for _ in range(3):
        await watch.stop()
        await watch.start()
    assert len(timers) == 4
    assert [timer.cancelled() for timer in timers] == [True, True, True, False]
    assert first.is_set(), "its thread ends"
    await watch.stop()
    assert timers[-1].cancelled()
