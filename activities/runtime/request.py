"""What a step's model call sends: the view of the state as it is, or as it would be.

Rule: it is made anew for each call and stored nowhere.
"""

from __future__ import annotations

from collections.abc import Collection

from turnwright.activities.models.port import ModelRequest
from turnwright.activities.runtime.attempt import Attempt
from turnwright.journal.agent_state import AgentState
from turnwright.journal.agents import AgentDefinition
from turnwright.journal.view import offered_tools, request_messages


async def request_of(
    attempt: Attempt,
    definition: AgentDefinition,
    ordinal: int,
    state: AgentState,
    recalled: str,
    left_out: Collection[str] = (),
) -> ModelRequest:
    """The request, with what was `recalled` for it; media that `left_out` names are words in it."""
    return ModelRequest(
        model=definition.model,
        instructions=definition.instructions,
        messages=request_messages(state, left_out, recalled=recalled),
        tools=offered_tools(state),
        settings=definition.model_settings,
        base_url=definition.base_url,
        attempt=ordinal,
        blobs=await attempt.media(state),
    )
