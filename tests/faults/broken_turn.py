"""A turn's workflow of a build that is broken: its code raises once it has claimed the turn.

Temporal takes that for a task to be tried again, for ever.
"""

from __future__ import annotations

from typing import NoReturn

from temporalio import workflow

from turnwright.workflows.payloads import TURN_WORKFLOW, Next, TurnInput
from turnwright.workflows.turn import TurnWorkflow


@workflow.defn(name=TURN_WORKFLOW)
class BrokenTurn(TurnWorkflow):
    """Claims, and breaks."""

    @workflow.init
    def __init__(self, given: TurnInput) -> None:
        super().__init__(given)

    @workflow.run
    async def run(self, given: TurnInput) -> str:
        return await super().run(given)

    async def _work(self, planned: Next) -> NoReturn:
        raise RuntimeError("this build is broken")
