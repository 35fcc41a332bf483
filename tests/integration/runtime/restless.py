"""A turn's workflow that continues as new whenever it may, so that every signal meets such a moment sooner or later."""

from temporalio import workflow

from turnwright.workflows.payloads import TURN_WORKFLOW, TurnInput
from turnwright.workflows.turn import TurnWorkflow

EVENTS_MAX = 20


@workflow.defn(name=TURN_WORKFLOW)
class RestlessTurn(TurnWorkflow):
    """As its parent, with a very short history."""

    @workflow.init
    def __init__(self, given: TurnInput) -> None:
        super().__init__(given)

    @workflow.run
    async def run(self, given: TurnInput) -> str:
        return await super().run(given)

    def _is_long(self) -> bool:
        return workflow.info().get_current_history_length() > EVENTS_MAX
