"""How a thread that nobody carries on is brought back, as requests to Temporal.

Rule: an operation whose worker died is handed on first: its activity is failed in the dead worker's name, so Temporal
gives it to another at once, and the workflow, which need not know, is neither replayed nor asked. Else the sticky queue
of its workflows is reset, then they are woken: a task that got onto the queue of a dead worker waits there whatever is
done later. A workflow is replaced only if Temporal says that nothing of it is under way: one whose tasks wait for a
free worker would, replaced again and again, never have its turn. Once, after a worker died, a task that does not move
within a second counts as the dead one's if it was taken, or stands on a sticky queue: Temporal would wait for it until
a timeout. An activity that was taken and has not claimed its operation counts so too, and is failed as an orphan is.
"""

import asyncio
from collections.abc import Awaitable, Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from typing import Literal, Protocol, TypeAlias, TypeVar

import structlog
from google.protobuf.duration_pb2 import Duration
from temporalio.api.common.v1 import WorkflowExecution
from temporalio.api.enums.v1 import (
    PendingActivityState,
    PendingWorkflowTaskState,
    TaskQueueKind,
    WorkflowExecutionStatus,
)
from temporalio.api.failure.v1 import ApplicationFailureInfo, Failure
from temporalio.api.workflow.v1 import PendingWorkflowTaskInfo
from temporalio.api.workflowservice.v1 import (
    DescribeWorkflowExecutionRequest,
    DescribeWorkflowExecutionResponse,
    GetWorkflowExecutionHistoryReverseRequest,
    ResetStickyTaskQueueRequest,
    RespondActivityTaskFailedByIdRequest,
)
from temporalio.service import RPCError, RPCStatusCode

from turnwright.journal.stalls import USELESS_WAKES_MAX
from turnwright.journal.transact.sweeping import Suspect
from turnwright.workflows.engine import RPC_TIMEOUT, TemporalUnreachable
from turnwright.workflows.ids import thread_workflow_id, turn_workflow_id
from turnwright.workflows.waking import Waker

T = TypeVar("T")
TASK_ATTEMPTS_MAX = 3
LAST_EVENTS_MAX = 50
RETRY_NANOS = 1_000_000  # none at all would mean: as the retry policy says
AWAY = frozenset({
    RPCStatusCode.UNAVAILABLE,
    RPCStatusCode.DEADLINE_EXCEEDED,
    RPCStatusCode.CANCELLED,
    RPCStatusCode.RESOURCE_EXHAUSTED,
    RPCStatusCode.PERMISSION_DENIED,
    RPCStatusCode.UNAUTHENTICATED,
    RPCStatusCode.NOT_FOUND,  # of the namespace: of a workflow it is handled where it is asked about
})  # fmt: skip

Condition = Literal["gone", "under_way", "wedged"]
Step = Literal["woken", "thread_terminated", "turn_restarted"]

log = structlog.get_logger(__name__)


class EngineAway(TemporalUnreachable):
    """Temporal does not answer, or not for us; nobody can be woken now."""


SecondLook: TypeAlias = Callable[[], Awaitable[None]]
"""To be taken a moment after the first. Raises `EngineAway`."""


class Rouser(Protocol):
    """Brings threads back."""

    async def rouse(self, suspect: Suspect) -> SecondLook | None:
        """Have somebody look at the thread; a second look, where one is needed.

        Raises:
            EngineAway: nobody can be woken now.
        """
        ...


@dataclass(frozen=True, slots=True)
class Taken:
    """An attempt of an activity that a worker has taken."""

    workflow_id: str
    run_id: str
    activity_id: str
    attempt: int


@dataclass(frozen=True, slots=True)
class Held:
    """What a thread's workflows wait for: a workflow task each, taken or not, and activities that were taken."""

    tasks: Mapping[str, PendingWorkflowTaskInfo] = field(default_factory=dict)
    taken: frozenset[Taken] = frozenset()


@dataclass(frozen=True)
class TemporalRouser:
    """Brings threads back through Temporal."""

    waker: Waker

    async def rouse(self, suspect: Suspect) -> SecondLook | None:
        """Reset, wake, and from the third useless wake-up on replace what is wedged."""
        useless = suspect.wakes > USELESS_WAKES_MAX and suspect.counted
        held = Held()
        with _told():
            try:
                if await self._handed_on(suspect):
                    return None
                held = await self._held(suspect) if suspect.urgent else held
                await (self.revive(suspect) if useless else self._wake(suspect))
            except RPCError as error:
                if error.status in AWAY:
                    raise
                log.warning("rouse_refused", thread=suspect.key.canonical, error=str(error))
        return partial(self._free, suspect, held) if held.tasks or held.taken else None

    async def _handed_on(self, suspect: Suspect) -> bool:
        """Whether all operations that died with their worker are with another now. The first time only: who was handed
        on and did not move is woken like any other, and so is who may have calls in the dead one's hands besides.
        """
        if not (suspect.urgent and suspect.orphans and suspect.turn_id) or suspect.unclaimed or suspect.wakes > 1:
            return False
        workflow_id = turn_workflow_id(self.waker.journal_id, suspect.key, suspect.turn_id)
        for nonce in suspect.orphans:
            run_id, _, rest = nonce.partition("/")
            activity_id = rest.rpartition("/")[0]
            if not (activity_id and await self._fail_activity(workflow_id, run_id, activity_id)):
                return False
        await self._reset_sticky(workflow_id)  # or what the activity brings goes to the dead one first
        return True

    async def _fail_activity(self, workflow_id: str, run_id: str, activity_id: str) -> bool:
        """Let Temporal try an activity again; False when it does not wait for that one any more.

        Should it be with a living worker already, its report is taken all the same, and the next attempt finds it.
        """
        again = ApplicationFailureInfo(type="WorkerLost", next_retry_delay=Duration(nanos=RETRY_NANOS))
        request = RespondActivityTaskFailedByIdRequest(
            namespace=self.waker.client.namespace,
            workflow_id=workflow_id,
            run_id=run_id,
            activity_id=activity_id,
            failure=Failure(message="its worker died", application_failure_info=again),
            identity=self.waker.client.identity,
        )
        service = self.waker.client.workflow_service
        answer = service.respond_activity_task_failed_by_id(request, timeout=RPC_TIMEOUT)
        return await _unless_unknown(answer) is not None

    async def _free(self, suspect: Suspect, before: Held) -> None:
        """What stands as it stood is the dead worker's: a task that was taken, or is on its own queue, where no reset
        helps it; an activity that was taken, and had claimed nothing when the journal was looked at.
        """
        with _told():
            now = await self._held(suspect)
            stood = [workflow_id for workflow_id, task in before.tasks.items() if now.tasks.get(workflow_id) == task]
            stuck = {name for name in stood if await self._is_one_worker_s(name, now.tasks[name])}
            if stuck:
                await self._start_over(suspect, stuck)
            for taken in before.taken & now.taken:
                if await self._fail_activity(taken.workflow_id, taken.run_id, taken.activity_id):
                    log.info("activity_of_dead_worker", thread=suspect.key.canonical, turn=suspect.turn_id)
                    await self._reset_sticky(taken.workflow_id)

    async def _is_one_worker_s(self, workflow_id: str, task: PendingWorkflowTaskInfo) -> bool:
        """Whether no other worker can take the task; what waits on the common queue for a busy one is only late."""
        if task.state == PendingWorkflowTaskState.PENDING_WORKFLOW_TASK_STATE_STARTED:
            return True
        request = GetWorkflowExecutionHistoryReverseRequest(
            namespace=self.waker.client.namespace,
            execution=WorkflowExecution(workflow_id=workflow_id),
            maximum_page_size=LAST_EVENTS_MAX,
        )
        service = self.waker.client.workflow_service
        found = await _unless_unknown(service.get_workflow_execution_history_reverse(request, timeout=RPC_TIMEOUT))
        if found is None:
            return False
        scheduled = (event.workflow_task_scheduled_event_attributes for event in found.history.events)
        queues = (one.task_queue for one in scheduled if one.HasField("task_queue"))
        return next((queue.kind for queue in queues), None) == TaskQueueKind.TASK_QUEUE_KIND_STICKY

    async def _start_over(self, suspect: Suspect, stuck: set[str]) -> None:
        log.info("task_of_dead_worker", thread=suspect.key.canonical, turn=suspect.turn_id)
        *turn, thread = self._workflow_ids(suspect)
        if suspect.turn_id is not None and stuck.intersection(turn):
            await self.waker.turn(suspect.key, suspect.turn_id, suspect.epoch, restart=True)
        if thread in stuck:
            await self._terminate(thread)
            await self.waker.thread(suspect.key)

    async def revive(self, suspect: Suspect) -> tuple[Step, ...]:
        """Replace at once what is wedged, and wake; says what was done.

        Raises:
            EngineAway: nobody can be woken now.
        """
        with _told():
            return (*await self._unwedge(suspect), *await self._wake(suspect))

    async def examine(self, suspect: Suspect) -> dict[str, Condition]:
        """How the thread's workflow and its turn's stand.

        Raises:
            EngineAway: Temporal does not say.
        """
        names = ("thread",) if suspect.turn_id is None else ("turn", "thread")
        with _told():
            found = await asyncio.gather(*map(self._condition, self._workflow_ids(suspect)))
        return dict(zip(names, found, strict=True))

    async def _wake(self, suspect: Suspect) -> tuple[Step, ...]:
        """The turn alone, at first: its thread would only wake it once more, which costs as much as the rest."""
        *turn, thread = self._workflow_ids(suspect)
        await asyncio.gather(*map(self._reset_sticky, turn))
        runs = suspect.turn_id is not None and await self.waker.nudge_turn(suspect.key, suspect.turn_id)
        if not runs or suspect.wakes > 1 or suspect.why == "cancelled":
            await self._reset_sticky(thread)
            await self.waker.thread(suspect.key)
        return ("woken",)

    async def _unwedge(self, suspect: Suspect) -> list[Step]:
        """See why wake-ups lead to nothing, and start over what will never move again."""
        done: list[Step] = []
        thread = thread_workflow_id(self.waker.journal_id, suspect.key)
        if await self._condition(thread) == "wedged":
            await self._terminate(thread)
            done.append("thread_terminated")
        if suspect.turn_id is None or suspect.why == "cancelled":
            return done
        turn = turn_workflow_id(self.waker.journal_id, suspect.key, suspect.turn_id)
        condition = await self._condition(turn)
        if condition != "under_way":
            log.warning(
                "turn_restarted", thread=suspect.key.canonical, turn=suspect.turn_id, was=condition, wakes=suspect.wakes
            )
            await self.waker.turn(suspect.key, suspect.turn_id, suspect.epoch, restart=True)
            done.append("turn_restarted")
        return done

    async def _held(self, suspect: Suspect) -> Held:
        """What each of its workflows waits for."""
        names = self._workflow_ids(suspect)
        described = await asyncio.gather(*map(self._describe, names))
        found = {name: one for name, one in zip(names, described, strict=True) if one is not None}
        tasks = {
            name: one.pending_workflow_task for name, one in found.items() if one.HasField("pending_workflow_task")
        }
        taken = {
            Taken(name, one.workflow_execution_info.execution.run_id, activity.activity_id, activity.attempt)
            for name, one in found.items()
            for activity in one.pending_activities
            if activity.state == PendingActivityState.PENDING_ACTIVITY_STATE_STARTED
        }
        return Held(tasks, frozenset(taken))

    async def _condition(self, workflow_id: str) -> Condition:
        found = await self._describe(workflow_id)
        return "gone" if found is None else condition_of(found, self.waker.task_queue)

    async def _describe(self, workflow_id: str) -> DescribeWorkflowExecutionResponse | None:
        request = DescribeWorkflowExecutionRequest(
            namespace=self.waker.client.namespace, execution=WorkflowExecution(workflow_id=workflow_id)
        )
        # Not through the SDK's handle: it fails on a workflow that was paused with the server's own means.
        service = self.waker.client.workflow_service
        return await _unless_unknown(service.describe_workflow_execution(request, timeout=RPC_TIMEOUT))

    async def _terminate(self, workflow_id: str) -> None:
        handle = self.waker.client.get_workflow_handle(workflow_id)
        reason = "its thread has work and it did not move"
        await _unless_unknown(handle.terminate(reason=reason, rpc_timeout=RPC_TIMEOUT))

    async def _reset_sticky(self, workflow_id: str) -> None:
        request = ResetStickyTaskQueueRequest(
            namespace=self.waker.client.namespace, execution=WorkflowExecution(workflow_id=workflow_id)
        )
        service = self.waker.client.workflow_service
        await _unless_unknown(service.reset_sticky_task_queue(request, timeout=RPC_TIMEOUT))

    def _workflow_ids(self, suspect: Suspect) -> tuple[str, ...]:
        thread = thread_workflow_id(self.waker.journal_id, suspect.key)
        if suspect.turn_id is None:
            return (thread,)
        return turn_workflow_id(self.waker.journal_id, suspect.key, suspect.turn_id), thread


async def _unless_unknown(asked: Awaitable[T]) -> T | None:
    """What Temporal answers; None when it does not know, or not any more, what it is asked about."""
    try:
        return await asked
    except RPCError as error:
        if error.status is not RPCStatusCode.NOT_FOUND:
            raise
        return None


@contextmanager
def _told() -> Iterator[None]:
    """Tell that Temporal is away from what it refuses."""
    try:
        yield
    except RPCError as error:
        if error.status not in AWAY:
            raise
        raise EngineAway(f"{error.status.name}: {error.message}") from error


def condition_of(found: DescribeWorkflowExecutionResponse, task_queue: str) -> Condition:
    """Whether a workflow is over, has something under way, or stands still with work to do.

    One that was started on another task queue waits for workers that were told to work elsewhere.
    """
    status = found.workflow_execution_info.status
    if status == WorkflowExecutionStatus.WORKFLOW_EXECUTION_STATUS_PAUSED:
        return "under_way"  # an operator holds it by the server's own means, and will let it go on
    if status != WorkflowExecutionStatus.WORKFLOW_EXECUTION_STATUS_RUNNING:
        return "gone"
    if found.execution_config.task_queue.name != task_queue:
        return "wedged"
    if found.HasField("pending_workflow_task"):
        # A task that fails or times out again and again is code that raises, or history it cannot replay.
        return "under_way" if found.pending_workflow_task.attempt < TASK_ATTEMPTS_MAX else "wedged"
    return "under_way" if found.pending_activities else "wedged"
