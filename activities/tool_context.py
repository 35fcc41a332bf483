"""What a tool is told about the call it carries out.

Rule: a tool receives its context as an argument and never looks for it in a global. The idempotency key
is that of the turn and the call, the same for every attempt.
"""

from __future__ import annotations

import threading
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from turnwright.activities.runtime.own_sessions import OwnSessions
    from turnwright.journal.agent_state import AgentState


@dataclass(frozen=True, slots=True)
class Answer:
    """What a person answered to a question after which the tool is called again.

    `name` is the question's, `given` False when the person chose not to answer, `values` the answer, and `kept` what
    the tool gave along with the question.
    """

    name: str
    given: bool
    values: Mapping[str, Any] = field(default_factory=dict)
    kept: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolContext:
    """The runtime context of one attempt of one call.

    `state` is the agent's state as of the call, None where there is none (as in a test).
    `results` gives the whole text of a result that was set aside, by its call id (None: there is no such result).
    `sessions` are those of the thread's user, for the tools that read them.
    `answers` gives, by name, what was answered to questions of earlier attempts after which the tool is called again;
    `approved`: a person has allowed this very call.
    `cancel_requested` is set when the call should stop. An async tool is cancelled as well; a sync one
    runs in a thread and has to look: `ctx.cancel_requested.wait(0.1)`.
    """

    tenant: str
    user: str | None
    agent: str
    session: str
    thread: str
    turn_id: str
    run_id: str
    step: int
    call_id: str
    idempotency_key: str
    attempt: int = 1
    state: AgentState | None = None
    results: Callable[[str], Awaitable[str | None]] | None = field(default=None, compare=False, repr=False)
    sessions: OwnSessions | None = field(default=None, compare=False, repr=False)
    answers: Callable[[], Awaitable[Mapping[str, Answer]]] | None = field(default=None, compare=False, repr=False)
    approved: bool = False
    cancel_requested: threading.Event = field(default_factory=threading.Event, compare=False, repr=False)
