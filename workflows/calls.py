"""How workflows call activities: names, bounds and summaries in one place.

Rule: short journal access runs locally and is repeated until it succeeds; operations are scheduled
activities that are repeated until the journal says what became of them. No failure of either is a
failure of a turn.
"""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from temporalio import workflow
from temporalio.common import RetryPolicy
from temporalio.workflow import ActivityCancellationType, ActivityHandle

with workflow.unsafe.imports_passed_through():
    from turnwright.workflows.payloads import Next, OpRef, StepInput

HEARTBEAT_TIMEOUT_S = 5
OPERATION_TIMEOUT_H = 24
LOCAL_ATTEMPT_TIMEOUT_S = 10
_RETRY_LOCAL = RetryPolicy(initial_interval=timedelta(milliseconds=50), maximum_interval=timedelta(seconds=1))
_RETRY_OPERATION = RetryPolicy(initial_interval=timedelta(milliseconds=200), maximum_interval=timedelta(seconds=5))
_ACTIVITY = {"model": "model_step", "tool": "tool_call", "reconcile": "reconcile_call"}


async def journal_call(name: str, given: object, result_type: type[Any]) -> Any:  # noqa: ANN401 - as `result_type` says
    """Call a short journal activity locally, until it succeeds."""
    return await workflow.execute_local_activity(
        name,
        given,
        result_type=result_type,
        start_to_close_timeout=timedelta(seconds=LOCAL_ATTEMPT_TIMEOUT_S),
        retry_policy=_RETRY_LOCAL,
    )


def start_operation(ref: OpRef, given: StepInput) -> ActivityHandle[Next]:
    """Schedule an operation's attempt."""
    summary = f"model call of step {ref.step}" if ref.kind == "model" else f"{ref.kind} {ref.call} of step {ref.step}"
    return workflow.start_activity(
        _ACTIVITY[ref.kind],
        given,
        result_type=Next,
        start_to_close_timeout=timedelta(hours=OPERATION_TIMEOUT_H),
        heartbeat_timeout=timedelta(seconds=HEARTBEAT_TIMEOUT_S),
        retry_policy=_RETRY_OPERATION,
        cancellation_type=ActivityCancellationType.TRY_CANCEL,
        summary=summary,
    )


async def scheduled_call(name: str, given: object, result_type: type[Any]) -> Any:  # noqa: ANN401 - as `result_type` says
    """Call a journal activity on whichever worker takes it, until one succeeds."""
    return await workflow.execute_activity(
        name,
        given,
        result_type=result_type,
        start_to_close_timeout=timedelta(seconds=LOCAL_ATTEMPT_TIMEOUT_S),
        retry_policy=_RETRY_OPERATION,
    )
