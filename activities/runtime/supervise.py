"""Run an operation's body until it ends or must stop, and say how it ended.

Rule: the journal's word (a cancel, another attempt) and the worker's shutdown end a body the same way. The
caller then writes what it has; nothing is decided here.
"""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from turnwright.activities.runtime.stop import Stop, Why
from turnwright.activities.unwatched import seen

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Ended(Generic[T]):
    """How a body ended: its value or error; `stopped` says why it was asked to, if it was.

    A body that does not let go in time has neither value nor error.
    """

    value: T | None = None
    error: BaseException | None = None
    stopped: Why | None = None


async def supervise(body: Coroutine[Any, Any, T], stop: Stop, stop_s: float | None) -> Ended[T]:
    """Run `body` until it ends or is asked to stop.

    Args:
        body: the operation.
        stop: asks it to.
        stop_s: how long to wait for a cancelled body; None when it bounds its own end.
    """
    task = asyncio.create_task(body)
    asked = asyncio.create_task(stop.wait())
    await asyncio.wait({task, asked}, return_when=asyncio.FIRST_COMPLETED)
    asked.cancel()
    if task.done():
        return _ended(task, None)
    task.cancel()
    done, _ = await asyncio.wait({task}, timeout=stop_s)
    if done:
        return _ended(task, stop.why)
    task.add_done_callback(seen)
    return Ended(stopped=stop.why)


def _ended(task: asyncio.Task[T], why: Why | None) -> Ended[T]:
    try:
        return Ended(task.result(), stopped=why)
    except (Exception, asyncio.CancelledError) as error:  # noqa: BLE001 - the caller says what it means
        return Ended(error=error, stopped=why)
