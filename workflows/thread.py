"""ThreadWorkflow: woken by signal-with-start, it wakes the turn that has something to do, and ends.

Rule: it ends only after a look at the journal that began after the last wake-up, with no await between
that test and the return. So an idle thread costs nothing and no wake-up is lost.
"""

from __future__ import annotations

from collections.abc import Sequence

from temporalio import workflow
from temporalio.common import RawValue

from turnwright.workflows.calls import journal_call
from turnwright.workflows.payloads import THREAD_WORKFLOW, Dispatched, ThreadInput


@workflow.defn(name=THREAD_WORKFLOW)
class ThreadWorkflow:
    """Starts the head of a thread's queue."""

    def __init__(self) -> None:
        self._woken = False

    @workflow.run
    async def run(self, given: ThreadInput) -> str:
        """Look until there is nothing new; returns the turn that was woken last."""
        turn = ""
        while True:
            self._woken = False
            found: Dispatched = await journal_call("dispatch_thread", given, Dispatched)
            turn = found.turn or turn
            if self._woken or found.again:
                if workflow.info().is_continue_as_new_suggested():
                    workflow.continue_as_new(given)
                continue
            return turn

    @workflow.signal(dynamic=True)
    def on_signal(self, name: str, args: Sequence[RawValue]) -> None:
        """Any signal, with any arguments, says only: look again."""
        del name, args
        self._woken = True
