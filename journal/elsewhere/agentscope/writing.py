"""A state of ours as AgentScope's JSON."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from turnwright.journal.agent_state import AgentState
from turnwright.journal.elsewhere.agentscope.blocks import Dialect
from turnwright.journal.elsewhere.agentscope.messages import (
    OURS,
    THEIRS,
    plain_message,
    read_message,
    without_theirs,
    written_messages,
)
from turnwright.journal.elsewhere.agentscope.parts import parts_of, plain_parts, read_parts, written_parts
from turnwright.journal.elsewhere.agentscope.permissions import gated
from turnwright.journal.elsewhere.difference import applied, difference
from turnwright.journal.elsewhere.document import Place
from turnwright.journal.elsewhere.reading import Reading
from turnwright.journal.messages import Message, media_of


def written(state: AgentState, blobs: Mapping[str, bytes], dialect: Dialect | None = None) -> dict[str, Any]:
    """The state as AgentScope has it; what that has no place for stands beside it under `turnwright`.

    Args:
        state: the agent's.
        blobs: the bytes of its files, by their SHA-256.
        dialect: whose it is to be; None: that of the document it came from, or `java`. What a document of the other one
            held beside does not come back.
    """
    held = state.extra.get(THEIRS)
    kept: Mapping[str, Any] = held if isinstance(held, dict) else {}
    own: Dialect = "python" if kept.get("dialect") == "python" else "java"
    if dialect not in (None, own):
        kept, state = {}, state.model_copy(update={"context": tuple(map(without_theirs, state.context))})
    dialect = dialect or own
    parts = parts_of(state)
    made: dict[str, Any] = applied(kept.get("difference"), written_parts(parts))
    if not kept:
        made |= {"session_id": state.session_id, "user_id": state.user_id}
    again = read_parts(Place(made), Reading())
    if gated(again["permissions"], "", Reading(), trusted=False) == parts["permissions"]:
        again["permissions"] = parts["permissions"]  # the document allows more than was taken of it
    change = difference(plain_parts(again), plain_parts(parts))
    if change is not None:
        made[OURS] = change
    messages = written_messages(state.context, dialect, blobs)
    return made | {"context": [_with_ours(group, message, blobs) for group, message in messages]}


def _with_ours(group: list[Message], message: dict[str, Any], blobs: Mapping[str, bytes]) -> dict[str, Any]:
    """With what reading it again would not give, if there is anything; of theirs they know it themselves."""
    if any(THEIRS in one.metadata for one in group) or not set(media_of(tuple(group))) <= blobs.keys():
        return message
    again = read_message(Place(message), Reading()).messages
    change = difference([plain_message(one) for one in again], [plain_message(one) for one in group])
    return message if change is None else message | {"metadata": {OURS: change}}
