"""AgentState: what makes an agent restartable, as a fold of its thread's entries.

Rule: it is a projection. Deleting it loses nothing, and it is true for exactly one `as_of_seq`.
"""

from __future__ import annotations

from pydantic import Field

from turnwright.journal.agents import AgentDefinition
from turnwright.journal.ids import ThreadKey
from turnwright.journal.messages import Frozen, Message, Usage
from turnwright.journal.state_parts import MemoryState, PermissionState, PlanState, TaskState

STATE_REDUCER_VERSION = 2


class PendingInput(Frozen):
    """Input no model has seen yet: a turn's own, a steer, or (without a turn) injected material."""

    seq: int
    turn_id: str | None
    message: Message


class UsageState(Frozen):
    """Tokens and cost of the thread, and of the turn that started last. Every attempt counts once."""

    total: Usage = Usage()
    turn_id: str | None = None
    turn: Usage = Usage()

    def plus(self, turn_id: str | None, usage: Usage) -> UsageState:
        """With one more attempt counted; what comes late for an earlier turn counts in the total only."""
        turn = self.turn + usage if turn_id == self.turn_id else self.turn
        return UsageState(total=self.total + usage, turn_id=self.turn_id, turn=turn)

    def of(self, turn_id: str | None) -> UsageState:
        """As it is when that turn starts; a retried turn goes on counting if no other ran since."""
        return self if turn_id == self.turn_id else UsageState(total=self.total, turn_id=turn_id)


class Compaction(Frozen):
    """What is open about making room: a request nobody has carried out, and tries that brought no summary.

    `requested_seq` is the request's entry (0: none is open), `failures` counts the tries since one brought something,
    `failed_tokens` is how long the request was at the last of them, `reason` why that brought nothing.
    """

    requested_seq: int = 0
    failures: int = 0
    failed_tokens: int = 0
    reason: str = ""


class AgentState(Frozen):
    """The state of one thread's agent at `as_of_seq`.

    `context` is what the next request starts from, `summary` what compaction replaced; `inbox` is input
    that waits for its turn, `agent` the pinned definition (None before the thread's first run), `refused_media` what no
    request holds any more because it was answered only without.
    """

    tenant: str = ""
    user_id: str | None = None
    agent_id: str = ""
    session_id: str = ""
    thread_id: str = ""
    as_of_seq: int = 0
    agent: AgentDefinition | None = None
    context: tuple[Message, ...] = ()
    summary: str = ""
    compaction: Compaction = Compaction()
    inbox: tuple[PendingInput, ...] = ()
    permissions: PermissionState = PermissionState()
    plan: PlanState = PlanState()
    memory: MemoryState = MemoryState()
    tasks: TaskState = TaskState()
    tools: tuple[str, ...] = ()
    usage: UsageState = UsageState()
    refused_media: tuple[str, ...] = ()
    extra: dict[str, object] = Field(default_factory=dict)

    @property
    def pending_calls(self) -> frozenset[str]:
        """Ids of the calls that have no result; no stored flag has a say."""
        asked = {call.id for message in self.context for call in message.calls}
        return frozenset(asked - {r.id for message in self.context for r in message.results})


def begun_from(state: AgentState, key: ThreadKey) -> AgentState:
    """The state of another thread as that of the thread `key`; what it is true for is still the other's entry."""
    empty = empty_state(key)
    whose = {name: getattr(empty, name) for name in ("tenant", "user_id", "agent_id", "session_id", "thread_id")}
    return state.model_copy(update=whose)


def empty_state(key: ThreadKey) -> AgentState:
    """The state of a thread before its first entry."""
    return AgentState(
        tenant=key.tenant,
        user_id=key.user,
        agent_id=key.agent,
        session_id=key.session,
        thread_id=key.thread,
    )
