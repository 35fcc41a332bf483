"""The stay in a toolset: it is entered by the first who needs it, and left with the worker.

Rule: all who need it meanwhile wait for the one entering, who has a bound; none takes it for entered before it is. One
who waits no longer leaves the entering alone. It lives in a task of its own: a toolset must be left by the task that
entered it. While one that was given up still hangs, none is begun beside it.
"""

from __future__ import annotations

import asyncio
from contextvars import Context
from typing import TYPE_CHECKING, Any, Final

import structlog

from turnwright.activities.sources.port import SourceAway
from turnwright.activities.tool_errors import told

if TYPE_CHECKING:
    from pydantic_ai.toolsets import AbstractToolset

ENTER_S_MAX: Final = 30.0
LEAVE_S_MAX: Final = 8.0

log = structlog.get_logger(__name__)


class Stay:
    """Enters one toolset, anew if it ended."""

    def __init__(self, name: str, toolset: AbstractToolset[Any], enter_s_max: float = ENTER_S_MAX) -> None:
        self._name = name
        self._toolset = toolset
        self._enter_s_max = enter_s_max
        self._leaving = asyncio.Event()
        self._inside: asyncio.Future[None] | None = None
        self._task: asyncio.Task[None] | None = None

    async def entered(self) -> None:
        """Wait until it is entered.

        Raises:
            SourceAway: it cannot be.
        """
        if self._leaving.is_set():
            raise SourceAway(f"The toolset {self._name!r} is left, its worker ends.")
        inside = self._inside
        if inside is None or self._task is None or self._task.done():
            inside = self._begin()
        await asyncio.shield(inside)

    async def leave(self) -> None:
        """Leave it, or give up entering it."""
        self._leaving.set()
        if self._task is None or self._inside is None:
            return
        if not self._inside.done():
            self._task.cancel()
        await asyncio.wait({self._task}, timeout=LEAVE_S_MAX)
        self._task.cancel()

    def _begin(self) -> asyncio.Future[None]:
        loop = asyncio.get_running_loop()
        inside: asyncio.Future[None] = loop.create_future()
        self._inside, self._task = inside, loop.create_task(self._keep(inside), context=Context())
        late = loop.call_later(self._enter_s_max, self._give_up, inside, self._task)
        inside.add_done_callback(lambda _: late.cancel())
        return inside

    async def _keep(self, inside: asyncio.Future[None]) -> None:
        try:
            async with self._toolset:
                if not inside.done():  # else it was given up meanwhile
                    inside.set_result(None)
                    await self._leaving.wait()
        except Exception as error:  # noqa: BLE001 - whatever ends a stay ends only that
            if inside.done():
                log.warning("toolset_ended", source=self._name, error=told(error), then="entered when needed")
            _fail(inside, f"The toolset {self._name!r} cannot be entered: {told(error)}")
        finally:
            _fail(inside, f"The toolset {self._name!r} was left before it was entered.")

    def _give_up(self, inside: asyncio.Future[None], task: asyncio.Task[None]) -> None:
        _fail(inside, f"The toolset {self._name!r} was not entered within {self._enter_s_max:g} s.")
        task.cancel()


def _fail(inside: asyncio.Future[None], why: str) -> None:
    if not inside.done():
        inside.set_exception(SourceAway(why))
        inside.exception()  # seen, also if whoever waited has gone
