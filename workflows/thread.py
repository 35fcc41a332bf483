"""ThreadWorkflow: woken by signal-with-start, it wakes the turn that has something to do, and ends.

Rule: it ends only after a look at the journal that began after the last wake-up, with no await between
that test and the return. So an idle thread costs nothing and no wake-up is lost. It listens for a moment
before it ends: commands come in bursts, and one that meets a workflow on its way out costs a whole task.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from datetime import timedelta

from temporalio import workflow
from temporalio.common import RawValue

from turnwright.workflows.calls import journal_call
from turnwright.workflows.payloads import LEFT, THREAD_WORKFLOW, Dispatched, DispatchInput, ThreadInput

LISTEN_S = 1


@workflow.defn(name=THREAD_WORKFLOW)
class ThreadWorkflow:
    """Starts the head of a thread's queue."""

    def __init__(self) -> None:
        self._woken = False
        self._nudge = False

    @workflow.run
    async def run(self, given: ThreadInput) -> str:
        """Look until there is nothing new; returns the turn that was woken last."""
        turn = ""
        while True:
            found = await self._dispatch(given)
            turn = found.turn or turn
            if found.again or await self._hears_more():
                if workflow.info().is_continue_as_new_suggested():
                    workflow.continue_as_new(given)
                continue
            return turn

    @workflow.signal(dynamic=True)
    def on_signal(self, name: str, args: Sequence[RawValue]) -> None:
        """Any signal, with any arguments, says only: look again."""
        del args
        self._woken = True
        self._nudge = self._nudge or name != LEFT

    async def _dispatch(self, given: ThreadInput) -> Dispatched:
        look = DispatchInput(given.thread, self._nudge)
        self._woken = self._nudge = False
        found: Dispatched = await journal_call("dispatch_thread", look, Dispatched)
        return found

    async def _hears_more(self) -> bool:
        with suppress(TimeoutError):
            await workflow.wait_condition(lambda: self._woken, timeout=timedelta(seconds=LISTEN_S))
        return self._woken
