"""TickWorkflow: a time of a schedule has come; one activity has the journal decide what becomes of it.

Rule: it knows the schedule and the time, and nothing else. Every tick has a workflow of its own and none waits for
another: what a tick does while its thread has a turn is decided in the journal, not by Temporal.
"""

from __future__ import annotations

from temporalio import workflow
from temporalio.common import SearchAttributeKey

from turnwright.workflows.calls import journal_call
from turnwright.workflows.payloads import TICK_WORKFLOW, TickInput, TickTaken

# By Temporal itself, whatever is registered: the time by the schedule, before any jitter, in whole seconds.
DUE = SearchAttributeKey.for_datetime("TemporalScheduledStartTime")


@workflow.defn(name=TICK_WORKFLOW)
class TickWorkflow:
    """Has the turn of a tick submitted."""

    @workflow.run
    async def run(self, given: TickInput) -> str:
        """Returns the turn's id, or why there is none."""
        info = workflow.info()
        due = info.typed_search_attributes.get(DUE) or info.start_time
        tick = TickInput(given.session, given.name, given.generation, int(due.timestamp()))
        taken: TickTaken = await journal_call("take_tick", tick, TickTaken)
        return taken.turn or taken.code
