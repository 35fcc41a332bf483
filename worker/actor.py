"""One way to start and stop everything that works in the background of a worker.

Rule: `start` returns when the actor works, `stop` when it does not any more; either may be called twice, and
what was stopped may be started again. A round that fails is logged and tried again: no actor dies quietly.
"""

import asyncio
from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Protocol

import structlog

from turnwright.journal.errors import TurnwrightError

FAILED_ROUND_WAIT_S_MAX = 5.0

log = structlog.get_logger(__name__)


class Actor(Protocol):
    """Something that works in the background."""

    async def start(self) -> None:
        """Return when it works; harmless when it does."""
        ...

    async def stop(self) -> None:
        """Return when it does not work any more; harmless when it does not."""
        ...


class Looper(ABC):
    """An actor that does one thing again and again, with a pause of `interval_s` between."""

    failed_wait_s_max = FAILED_ROUND_WAIT_S_MAX

    def __init__(self, name: str, interval_s: float) -> None:
        self.name = name
        self.interval_s = interval_s
        self._task: asyncio.Task[None] | None = None

    async def start(self) -> None:
        """Begin."""
        if self._task is None:
            await self.begin()
            self._task = asyncio.create_task(self._loop(), name=self.name)

    async def stop(self) -> None:
        """End the loop, then `end`."""
        task, self._task = self._task, None
        if task is None:
            return
        task.cancel()
        await asyncio.wait({task})
        await self.end()

    async def begin(self) -> None:  # noqa: B027 - most need nothing
        """What `start` does first; when it raises, the actor has not started."""

    async def end(self) -> None:  # noqa: B027
        """What `stop` does last."""

    @abstractmethod
    async def round(self) -> None:
        """Do it once."""

    async def _loop(self) -> None:
        failures, said = 0, ""
        while True:
            try:
                await self.round()
                failures, said = 0, ""
            except Exception as error:
                failures += 1
                what = f"{type(error).__name__}: {error}"
                if what != said:  # a store that is away for an hour is one line, not thousands
                    log.warning("actor_failed", actor=self.name, error=what, exc_info=_unexpected(error))
                said = what
            await asyncio.sleep(self._pause_s(failures))

    def _pause_s(self, failures: int) -> float:
        """Longer and longer after failures, up to a bound."""
        longer_s: float = self.interval_s * 2 ** min(failures, 10)
        return max(self.interval_s, min(longer_s, self.failed_wait_s_max)) if failures else self.interval_s


async def stop_all(actors: Sequence[Actor]) -> None:
    """Stop them in the opposite order of their start."""
    for actor in reversed(actors):
        await actor.stop()


def _unexpected(error: Exception) -> bool:
    """Whether the traceback is needed; errors of our tree and of the network say what they are."""
    return not isinstance(error, TurnwrightError | OSError)
