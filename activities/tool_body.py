"""One run of a function somebody else wrote, a tool's or a hook's: in the event loop if it is async, else in a thread.

Rule: however the function ends (a value, any exception, even `sys.exit`), it ends as data. A thread is a
daemon and belongs to one call: a function that never returns costs that thread, and neither a place in
a pool nor the worker's exit.
"""

from __future__ import annotations

import asyncio
import contextlib
import contextvars
import functools
import inspect
import threading
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from turnwright.activities.given_up import Run, StillRunning
from turnwright.activities.tool_context import ToolContext
from turnwright.activities.tools import Tool


@dataclass(frozen=True, slots=True)
class Ended:
    """How a function ended: with a value, or with an error."""

    value: Any = None
    error: BaseException | None = None


class Body:
    """A started call of a tool's function, which can be asked to stop."""

    def __init__(self, tool: Tool[..., Any], ctx: ToolContext, arguments: dict[str, Any]) -> None:
        name = tool.signature.context_name
        call = functools.partial(tool.function, **(arguments if name is None else {**arguments, name: ctx}))
        self._ctx = ctx
        self._async = inspect.iscoroutinefunction(tool.function)
        self._stopping = False
        self._task = asyncio.create_task(ended_of(call), name=f"tool {tool.name} {ctx.call_id}")

    async def wait(self, timeout_s: float) -> Ended | None:
        """How the function ended, or None if it still runs after that time.

        Cancelling this wait leaves the function alone.
        """
        await asyncio.wait({self._task}, timeout=timeout_s)
        return self._task.result() if self._task.done() else None

    async def stop(self, grace_s: float) -> Ended | None:
        """Ask the function to stop and wait for that; None if it still runs after the grace."""
        self._stopping = True
        self._ctx.cancel_requested.set()
        if self._async:
            self._task.cancel()
        return await self.wait(grace_s)

    @property
    def gave_in(self) -> bool:
        """Whether an async function that was asked to stop let itself be cancelled."""
        ended = self._task.result() if self._task.done() else None
        return self._stopping and ended is not None and isinstance(ended.error, asyncio.CancelledError)


async def ended_of(call: Callable[[], Any]) -> Ended:
    """How the call ended, whatever it raised; a sync one has a thread of its own."""
    try:
        if inspect.iscoroutinefunction(call):
            return Ended(await call())
        ended = await in_thread(call)
        return Ended(await ended.value) if inspect.isawaitable(ended.value) else ended
    except BaseException as error:  # noqa: BLE001 - an end is data, and `sys.exit` would end the worker
        return Ended(error=error)


async def answer_of(hook: Callable[[], Any], timeout_s: float, name: str) -> Ended | None:
    """How a hook ended, or None if it takes longer; one that does not let itself be cancelled is left alone.

    One of which too many runs were left alone is not begun: it ends with the error `StillRunning`.
    """
    try:
        run = Run(hook)
    except StillRunning as error:
        return Ended(error=error)
    task = asyncio.create_task(ended_of(hook if inspect.iscoroutinefunction(hook) else run.in_thread), name=name)
    task.add_done_callback(run.end)
    try:
        await asyncio.wait({task}, timeout=timeout_s)
        return task.result() if task.done() else None
    finally:
        if not task.done():
            run.give_up()
            task.cancel()


async def in_thread(call: Callable[[], Any]) -> Ended:
    """How the call ended in a thread of its own, with the caller's context variables."""
    loop = asyncio.get_running_loop()
    future: asyncio.Future[Ended] = loop.create_future()
    context = contextvars.copy_context()

    def report(ended: Ended) -> None:
        if not future.done():
            future.set_result(ended)

    def body() -> None:
        try:
            ended = Ended(context.run(call))
        except BaseException as error:  # noqa: BLE001 - a thread's end is reported, whatever it is
            ended = Ended(error=error)
        # A thread may outlive the loop that started it; then there is nobody left to tell.
        with contextlib.suppress(RuntimeError):
            loop.call_soon_threadsafe(report, ended)

    threading.Thread(target=body, name="turnwright-tool", daemon=True).start()
    return await future
