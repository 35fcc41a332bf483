"""What a worker still carries out, and how it lets go of a Temporal that does not answer.

Rule: a worker that leaves waits for what runs here, not for Temporal. Its SDK waits until Temporal has taken every last
word, for ever if it is away; the journal has those words already, so once nothing runs there is nothing to wait for.
"""

import asyncio
from typing import Any

import structlog
from temporalio import activity
from temporalio.worker import ActivityInboundInterceptor, ExecuteActivityInput, Interceptor, Worker

from turnwright.worker.condition import Condition

UNHEARD_S_MAX = 3.0
ABANDONED_S_MAX = 1.0

log = structlog.get_logger(__name__)


class Underway(Interceptor):
    """Counts the activities that run in this process; those for which Temporal has slots in `condition`."""

    def __init__(self, condition: Condition | None = None) -> None:
        self.condition = condition or Condition()
        self._count = 0
        self._none = asyncio.Event()
        self._none.set()
        self._some = asyncio.Event()

    def intercept_activity(self, next: ActivityInboundInterceptor) -> ActivityInboundInterceptor:  # noqa: A002 - the SDK's
        """Count each activity while it runs."""
        return _Counted(next, self)

    def add(self, change: int) -> None:
        """One more or one less."""
        self._count += change
        there, gone = (self._some, self._none) if self._count else (self._none, self._some)
        there.set()
        gone.clear()

    async def none_for(self, seconds: float) -> None:
        """Return when nothing has run for so long."""
        while True:
            await self._none.wait()
            try:
                await asyncio.wait_for(self._some.wait(), seconds)
            except TimeoutError:
                return


class _Counted(ActivityInboundInterceptor):
    def __init__(self, following: ActivityInboundInterceptor, underway: Underway) -> None:
        super().__init__(following)
        self._underway = underway

    async def execute_activity(self, input: ExecuteActivityInput) -> Any:  # noqa: A002, ANN401 - as the SDK's
        slots = int(not activity.info().is_local)
        self._underway.add(1)
        self._underway.condition.running += slots
        try:
            return await self.next.execute_activity(input)
        finally:
            self._underway.add(-1)
            self._underway.condition.running -= slots


async def let_go(worker: Worker, working: asyncio.Task[None], underway: Underway) -> None:
    """Have Temporal's worker finish what runs and end, whether Temporal answers or not; raises what `working` did."""
    ending = asyncio.create_task(worker.shutdown(), name="temporal-worker-ending")
    idle = asyncio.create_task(underway.none_for(UNHEARD_S_MAX))
    await asyncio.wait((working, idle), return_when=asyncio.FIRST_COMPLETED)
    idle.cancel()
    if working.done():
        await ending
        await working
    else:
        log.warning("temporal_does_not_let_go", waited_s=UNHEARD_S_MAX, then="nothing runs here any more, so it leaves")
        await _abandon(working, ending)


async def _abandon(*tasks: asyncio.Task[None]) -> None:
    """End them, as far as the SDK ends; what becomes of them after that is nobody's concern."""
    for task in tasks:
        task.cancel()
        task.add_done_callback(_take_note)
    await asyncio.wait(tasks, timeout=ABANDONED_S_MAX)


def _take_note(task: asyncio.Task[None]) -> None:
    """Or the loop complains that nobody did."""
    if not task.cancelled():
        task.exception()
