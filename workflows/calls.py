"""How workflows call activities: names, bounds and summaries in one place.

Rule: short journal access runs locally, which costs one event. When that does not succeed soon it is
scheduled, so that it holds no workflow task, may move to another worker, and costs nothing while it is
repeated. Operations are scheduled activities. No failure of any of these is a failure of a turn.

Temporal refuses signals to a workflow that tried to end and has a task in hand. So of two that signal each
other one must not do it while it holds its task, or they wait for each other: a turn never does.
"""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from temporalio import workflow
from temporalio.common import RetryPolicy
from temporalio.exceptions import FailureError
from temporalio.workflow import ActivityCancellationType, ActivityHandle

from turnwright.workflows.payloads import HEARTBEAT_TIMEOUT_S, Claimed, ClaimInput, Next, OpRef, StepInput, ThreadInput

OPERATION_TIMEOUT_H = 24
LOCAL_ATTEMPTS_MAX = 5
LOCAL_TIMEOUT_S = 12
ATTEMPT_TIMEOUT_S = 30
_RETRY_LOCAL = RetryPolicy(initial_interval=timedelta(milliseconds=50), maximum_attempts=LOCAL_ATTEMPTS_MAX)
_RETRY_SCHEDULED = RetryPolicy(initial_interval=timedelta(milliseconds=200), maximum_interval=timedelta(seconds=5))
_ACTIVITY = {"model": "model_step", "tool": "tool_call", "reconcile": "reconcile_call"}


async def journal_call(name: str, given: object, result_type: type[Any]) -> Any:  # noqa: ANN401 - as `result_type` says
    """Call a short journal activity until it succeeds: locally at first, on whichever worker takes it later."""
    try:
        return await workflow.execute_local_activity(
            name,
            given,
            result_type=result_type,
            schedule_to_close_timeout=timedelta(seconds=LOCAL_TIMEOUT_S),
            retry_policy=_RETRY_LOCAL,
        )
    except FailureError:
        return await _scheduled(name, given, result_type, "the journal could not be reached at once")


async def wake_thread(given: ThreadInput) -> None:
    """Tell a thread that its turn leaves, on whichever worker takes it."""
    await _scheduled("wake_thread", given, type(None), "wakes the thread")


def start_claim_elsewhere(given: ClaimInput) -> ActivityHandle[Claimed]:
    """Let a worker that knows the agent claim the turn, whichever and whenever it is."""
    return _scheduled("claim_known_turn", given, Claimed, "waits for a worker that knows the agent")


def start_operation(ref: OpRef, given: StepInput) -> ActivityHandle[Next]:
    """Schedule an operation's attempt."""
    summary = f"{ref.kind} {ref.step}" if ref.kind == "model" else f"{ref.kind} {ref.call.partition('-')[2]}"
    handle = workflow.start_activity(
        _ACTIVITY[ref.kind],
        given,
        result_type=Next,
        start_to_close_timeout=timedelta(hours=OPERATION_TIMEOUT_H),
        heartbeat_timeout=timedelta(seconds=HEARTBEAT_TIMEOUT_S),
        retry_policy=_RETRY_SCHEDULED,
        cancellation_type=ActivityCancellationType.TRY_CANCEL,
        summary=summary,
    )
    handle.add_done_callback(_seen)
    return handle


def _scheduled(name: str, given: object, result_type: type[Any], summary: str) -> ActivityHandle[Any]:
    handle = workflow.start_activity(
        name,
        given,
        result_type=result_type,
        start_to_close_timeout=timedelta(seconds=ATTEMPT_TIMEOUT_S),
        retry_policy=_RETRY_SCHEDULED,
        cancellation_type=ActivityCancellationType.TRY_CANCEL,
        summary=summary,
    )
    handle.add_done_callback(_seen)
    return handle


def _seen(handle: Any) -> None:  # noqa: ANN401 - a task's callback
    """Look at the end of an activity nobody may wait for any more; asyncio reports errors nobody looked at."""
    if not handle.cancelled():
        handle.exception()
