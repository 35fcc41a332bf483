"""An agent's own source of memory: a function that says what the model is to remember in its next request.

Rule: it is asked before each model call, and what it says is part of that request and stored nowhere.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from turnwright.journal.agent_state import AgentState

RECALLED_CHARACTERS_MAX = 16_384
RECALL_TIMEOUT_S = 10.0


@dataclass(frozen=True, slots=True, kw_only=True)
class RequestContext:
    """Whose request a source of memory is asked about; `state` is the agent's state as of it."""

    tenant: str
    user: str | None
    agent: str
    session: str
    thread: str
    turn_id: str
    state: AgentState = field(repr=False)


MemorySource: TypeAlias = Callable[[RequestContext], str | Awaitable[str]]
