"""Run an operation's body until it ends or must stop, and say why it stopped.

Rule: the journal's word (a cancel, another attempt), Temporal's cancel and the worker's shutdown all end
a body the same way. The caller then writes what it has; nothing is decided here.
"""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from dataclasses import dataclass
from typing import Any, Generic, Literal, TypeVar

from temporalio import activity

from turnwright.activities.runtime.watcher import Watched

T = TypeVar("T")
Why = Literal["cancelled", "abandoned", "drained"]


@dataclass(frozen=True, slots=True)
class Ended(Generic[T]):
    """How a body ended: its value or error, or why it was stopped. `let_go`: it is not running any more."""

    value: T | None = None
    error: BaseException | None = None
    stopped: Why | None = None
    let_go: bool = True


async def supervise(
    body: Coroutine[Any, Any, T], watched: Watched, heartbeat_s: float, stop_s: float | None
) -> Ended[T]:
    """Run `body`, heartbeating, until it ends or is to stop.

    Args:
        body: the operation.
        watched: its place in the watcher, whose `stop` ends it.
        heartbeat_s: seconds between heartbeats.
        stop_s: how long to wait for a cancelled body; None when it bounds its own end.
    """
    task = asyncio.create_task(body)
    beat = asyncio.create_task(_beat(heartbeat_s))
    stop = asyncio.create_task(watched.stop.wait())
    try:
        why = await _first(task, stop)
        if why is None:
            return _ended(task, None)
        task.cancel()
        done, _ = await asyncio.wait({task}, timeout=stop_s)
        return _ended(task, why) if done else Ended(stopped=why, let_go=False)
    finally:
        beat.cancel()
        stop.cancel()


async def _first(task: asyncio.Task[T], stop: asyncio.Task[Any]) -> Why | None:
    try:
        await asyncio.wait({task, stop}, return_when=asyncio.FIRST_COMPLETED)
    except asyncio.CancelledError:
        return "drained" if activity.is_worker_shutdown() else "abandoned"
    return None if task.done() else "cancelled"


def _ended(task: asyncio.Task[T], why: Why | None) -> Ended[T]:
    if task.cancelled():
        return Ended(stopped=why or "abandoned")
    error = task.exception()
    if isinstance(error, asyncio.CancelledError):
        return Ended(error=error, stopped=why or "abandoned")
    return Ended(error=error, stopped=why) if error is not None else Ended(task.result(), stopped=why)


async def _beat(interval_s: float) -> None:
    while True:
        activity.heartbeat()
        await asyncio.sleep(interval_s)
