"""Waking a session, thread or turn: signal-with-start, with nothing in the signal.

Rule: a wake-up carries no command. Losing one costs latency, because the journal has the command and the
sweeper sees a thread with work that nobody runs.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import timedelta

from temporalio.client import Client
from temporalio.common import RetryPolicy, TypedSearchAttributes, WorkflowIDConflictPolicy, WorkflowIDReusePolicy
from temporalio.service import RPCError, RPCStatusCode

from turnwright.journal.ids import SessionKey, ThreadKey
from turnwright.workflows.attributes import AGENT, TURN, Attributes, Registered, of_session
from turnwright.workflows.ids import session_workflow_id, thread_workflow_id, turn_workflow_id
from turnwright.workflows.payloads import (
    LEFT,
    SESSION_WORKFLOW,
    THREAD_WORKFLOW,
    TURN_WORKFLOW,
    WAKE,
    SessionInput,
    ThreadInput,
    TurnInput,
)

WORKFLOW_TASK_TIMEOUT_S = 5.0
RPC_TIMEOUT_S = 5.0
SUMMARY_CHARACTERS_MAX = 200
# A run fails only on a worker whose code cannot replay it; Temporal then begins another, with nothing to replay.
# What fails again and again is left to the sweeper, which asks the journal whether there is anything to begin.
BEGIN_ANEW = RetryPolicy(initial_interval=timedelta(milliseconds=200), maximum_attempts=5)


@dataclass(frozen=True)
class _Workflow:
    """What is started or signalled: `memo` and `attributes` tell people in Temporal whose it is."""

    name: str
    given: object
    id: str
    summary: str
    memo: dict[str, str]
    attributes: Attributes


@dataclass(frozen=True)
class Waker:
    """Wakes workflows of one journal through one Temporal client."""

    client: Client
    journal_id: str
    task_queue: str
    workflow_task_timeout_s: float = WORKFLOW_TASK_TIMEOUT_S
    registered: Registered = field(default_factory=Registered, compare=False, repr=False)

    async def thread(self, key: ThreadKey, *, left: bool = False) -> None:
        """Wake a thread: its workflow looks at the journal, and starts or wakes its turn.

        `left`: on behalf of its turn, whose run is about to end and need not be woken for that.
        """
        thread = _Workflow(
            THREAD_WORKFLOW,
            ThreadInput(key.canonical),
            thread_workflow_id(self.journal_id, key),
            f"thread {key.thread} of session {key.session}",
            {"thread": key.canonical},
            of_session(key.session_key) | {AGENT: key.agent},
        )
        await self._signal_with_start(thread, signal=LEFT if left else WAKE)

    async def turn(self, key: ThreadKey, turn_id: str, epoch: int, *, restart: bool = False) -> None:
        """Wake a turn, starting its workflow at `epoch` if none runs; `restart` replaces one that is stuck."""
        turn = _Workflow(
            TURN_WORKFLOW,
            TurnInput(key.canonical, turn_id, epoch),
            turn_workflow_id(self.journal_id, key, turn_id),
            f"turn of {key.agent} in session {key.session}",
            {"thread": key.canonical, "turn": turn_id},
            of_session(key.session_key) | {AGENT: key.agent, TURN: turn_id},
        )
        await self._signal_with_start(turn, restart=restart)

    async def session(self, key: SessionKey) -> None:
        """Wake a session: its workflow wakes each of its threads."""
        session = _Workflow(
            SESSION_WORKFLOW,
            SessionInput(key.canonical),
            session_workflow_id(self.journal_id, key),
            f"session {key.session}",
            {"session": key.canonical},
            of_session(key),
        )
        await self._signal_with_start(session)

    async def nudge_turn(self, key: ThreadKey, turn_id: str) -> bool:
        """Wake a turn's workflow only if one runs; whether it does."""
        handle = self.client.get_workflow_handle(turn_workflow_id(self.journal_id, key, turn_id))
        try:
            await handle.signal(WAKE, rpc_timeout=timedelta(seconds=RPC_TIMEOUT_S))
        except RPCError as error:
            if error.status is not RPCStatusCode.NOT_FOUND:
                raise
            return False
        return True

    async def _signal_with_start(self, workflow: _Workflow, *, signal: str = WAKE, restart: bool = False) -> None:
        policy = WorkflowIDConflictPolicy.TERMINATE_EXISTING if restart else WorkflowIDConflictPolicy.UNSPECIFIED
        attributes = await self.registered.choose(self.client, workflow.attributes)
        try:
            await self._start(workflow, signal, policy, attributes)
        except RPCError as error:
            if error.status is not RPCStatusCode.INVALID_ARGUMENT or not attributes:
                raise
            self.registered.forget()
            await self._start(workflow, signal, policy, TypedSearchAttributes.empty)

    async def _start(
        self, workflow: _Workflow, signal: str, policy: WorkflowIDConflictPolicy, attributes: TypedSearchAttributes
    ) -> None:
        await self.client.start_workflow(
            workflow.name,
            workflow.given,
            id=workflow.id,
            task_queue=self.task_queue,
            start_signal=signal,
            id_reuse_policy=WorkflowIDReusePolicy.ALLOW_DUPLICATE,
            id_conflict_policy=policy,
            retry_policy=BEGIN_ANEW,
            task_timeout=timedelta(seconds=self.workflow_task_timeout_s),
            memo=workflow.memo,
            search_attributes=attributes,
            static_summary=workflow.summary[:SUMMARY_CHARACTERS_MAX],
            rpc_timeout=timedelta(seconds=RPC_TIMEOUT_S),
        )
