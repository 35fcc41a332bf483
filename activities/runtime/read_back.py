"""The whole text of a result that was set aside: it stays in the entry that brought it."""

from __future__ import annotations

from turnwright.activities.runtime.attempt import Attempt
from turnwright.activities.runtime.persist import persist
from turnwright.journal.agent_state import AgentState
from turnwright.journal.context.stubs import text_of
from turnwright.journal.entries import MessageImported, Payload, ToolFinished, ToolReconciled
from turnwright.journal.messages import ToolResult


async def read_back(attempt: Attempt, state: AgentState, call_id: str) -> str | None:
    """The text of the call's result; None: the conversation has none, or it was erased."""
    seq = next((m.seq for m in reversed(state.context) for result in m.results if result.id == call_id), None)
    if seq is None:
        return None
    found = await persist(lambda: attempt.parts.journal.entry(attempt.key, seq))
    result = None if found is None else _result(found.payload, call_id)
    return None if result is None else text_of(result)


def _result(payload: Payload, call_id: str) -> ToolResult | None:
    """The result of that call, as the entry brought it."""
    match payload:
        case ToolFinished() | ToolReconciled() if payload.call_id == call_id:
            return ToolResult(id=call_id, name="", output=payload.output)
        case MessageImported(message=message):
            return next((result for result in message.results if result.id == call_id), None)
        case _:
            return None
