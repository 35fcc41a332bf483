"""An `AgentState` of AgentScope as a conversation."""

from __future__ import annotations

from typing import Any, Final

from turnwright.journal.agent_state import AgentState
from turnwright.journal.elsewhere.agentscope.blocks import Dialect
from turnwright.journal.elsewhere.agentscope.messages import OURS, THEIRS, read_message, with_theirs
from turnwright.journal.elsewhere.agentscope.parts import (
    NAMES,
    parts_of,
    plain_parts,
    read_parts,
    written_parts,
)
from turnwright.journal.elsewhere.agentscope.permissions import CONTEXT, gated
from turnwright.journal.elsewhere.agentscope.settled import unsettled
from turnwright.journal.elsewhere.conversation import Conversation, conversation, listed
from turnwright.journal.elsewhere.difference import applied, difference
from turnwright.journal.elsewhere.document import Place
from turnwright.journal.elsewhere.pairs import REPAIRED, Sourced, paired
from turnwright.journal.elsewhere.reading import Reading

# What the state holds of the document: its `dialect`, and the `difference` from what would be written.
_READ: Final = frozenset(
    {"context", "summary", "permission_context", "tool_context", "tasks_context", "plan_mode_context", OURS}
)
_SEEN: Final = frozenset(
    {"session_id", "thread_id", "user_id", "reply_id", "cur_iter", "reply_context", "shutdown_interrupted"}
)


def read(place: Place, reading: Reading, *, trusted: bool = False) -> Conversation:
    """The conversation of a state.

    Args:
        place: the document.
        reading: what is gathered on the way.
        trusted: whether what its permissions allow is allowed here too.

    Raises:
        InvalidInput: something in it is not what it should be; names the place.
    """
    if not place.fields().keys() & _READ:
        hint = "; `messages` are of the format openai or anthropic" if "messages" in place.fields() else ""
        raise place.wrong(f"nothing of an AgentScope state stands here, such as `context` or `summary`{hint}")
    dialect = _dialect(place)
    for key in sorted(place.fields().keys() - _READ - _SEEN):
        reading.note(key, "this is not read; it is kept, and stands in an export")
    context = place.find("context")
    reads = [] if context is None else [read_message(item, reading) for item in listed(context)]
    flat = [Sourced(said, one.place.path, n) for n, one in enumerate(reads) for said in one.messages]
    pairs = paired(flat, reading)
    repaired = {result.id for one in pairs if REPAIRED in one.message.metadata for result in one.message.results}
    groups: dict[int, list[Sourced]] = {}
    for one in pairs:
        groups.setdefault(one.group, []).append(one)
    marked = {n: iter(with_theirs(found, groups[n], dialect, reading.blobs, repaired)) for n, found in enumerate(reads)}
    said = [next(marked[one.group]) if one.group in marked else one for one in pairs]
    parts = _parts(place, reading)
    parts["permissions"] = gated(parts["permissions"], CONTEXT, reading, trusted=trusted)
    parts["tasks"] = unsettled(parts["tasks"], "tasks_context", reading, trusted=trusted)
    theirs = _original(place.fields())
    kept = {"dialect": dialect, "difference": difference(written_parts(parts), theirs)}
    return conversation("agentscope", said, plain_parts(parts) | {THEIRS: kept}, reading)


def _dialect(place: Place) -> Dialect:
    """Which AgentScope wrote it: they differ in nothing that is always there."""
    if "reply_context" in place.fields() or "middle_context" in place.fields():
        return "python"
    context = place.find("context")
    first = context.value[0] if context is not None and isinstance(context.value, list) and context.value else None
    role = first.get("role") if isinstance(first, dict) else None
    return "python" if isinstance(role, str) and role.islower() else "java"


def _parts(place: Place, reading: Reading) -> dict[str, Any]:
    """What was read, with what we had written beside it if it was ours once."""
    parts = read_parts(place, reading)
    change = place.find(OURS)
    if change is None:
        return parts
    plain = applied(change.value, plain_parts(parts))
    try:
        return parts_of(AgentState.model_validate({name: plain[name] for name in NAMES}))
    except (ValueError, LookupError, TypeError) as error:
        raise change.wrong("this cannot be read; take it away, or export the thread anew") from error


def _original(fields: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in fields.items() if key not in ("context", OURS)}
