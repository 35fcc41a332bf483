"""Work on files, in a thread, that is finished before anybody goes on.

Rule: whoever is cancelled waits for the thread, for a moment: it cannot be stopped, and would write beside its
successor. A disk that does not answer keeps it at work, which is said.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any, ParamSpec, TypeVar

FINISH_S = 5.0
P = ParamSpec("P")
T = TypeVar("T")


class Disk:
    """Does one thing after another to files."""

    def __init__(self) -> None:
        self._work: asyncio.Future[Any] | None = None

    async def do(self, function: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """What the function returns, from a thread. Raises what it raises."""
        work = asyncio.ensure_future(asyncio.to_thread(function, *args, **kwargs))
        self._work = work
        try:
            return await asyncio.shield(work)
        except asyncio.CancelledError:
            await asyncio.wait({work}, timeout=FINISH_S)
            raise

    def when_done(self, then: Callable[[], None]) -> None:
        """Do this when nothing is at work any more, which mostly is at once."""
        work = self._work
        if work is None or work.done():
            then()
        else:
            work.add_done_callback(lambda _: then())
