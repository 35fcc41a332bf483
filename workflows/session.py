"""SessionWorkflow: fans a session's pause, resume, cancel or close out to its threads, and ends.

Rule: the fan-out is wake-ups only. Each thread reads the session's control in the journal when it plans.
"""

from __future__ import annotations

from collections.abc import Sequence

from temporalio import workflow
from temporalio.common import RawValue

from turnwright.workflows.calls import journal_call
from turnwright.workflows.payloads import SESSION_WORKFLOW, FannedOut, SessionInput

PAGES_PER_RUN_MAX = 500


@workflow.defn(name=SESSION_WORKFLOW)
class SessionWorkflow:
    """Wakes the threads of a session."""

    def __init__(self) -> None:
        self._woken = False

    @workflow.run
    async def run(self, given: SessionInput) -> int:
        """Wake every busy thread once for each wake-up; returns how many were woken last."""
        after, woken, pages = given.after_thread, 0, 0
        while True:
            if after == 0:
                self._woken, woken = False, 0
            page: FannedOut = await journal_call("fan_out_session", SessionInput(given.session, after), FannedOut)
            after, woken, pages = page.after_thread, woken + page.woken, pages + 1
            if after == 0 and not self._woken:
                return woken
            if pages >= PAGES_PER_RUN_MAX:
                # A new run has heard nothing, so what was heard during this pass makes it begin anew.
                workflow.continue_as_new(SessionInput(given.session, 0 if self._woken else after))

    @workflow.signal(dynamic=True)
    def on_signal(self, name: str, args: Sequence[RawValue]) -> None:
        """Any signal says only: look again."""
        del name, args
        self._woken = True
