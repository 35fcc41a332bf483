"""What bringing a conversation from elsewhere records.

Rule: a thread begins with it or not at all. Each message is an entry of its own, so that it is found, compacted, shown
and erased like any other; permissions and a plan are the entries that say so everywhere. Nothing runs because of it.
"""

from __future__ import annotations

from typing import Any

from pydantic import ValidationError

from turnwright.journal import entry_ids
from turnwright.journal.agent_state import AgentState
from turnwright.journal.codec import problem
from turnwright.journal.commands import ImportThread, Rejection
from turnwright.journal.decide.context import Context, Decision
from turnwright.journal.decide.thread_rules import closed
from turnwright.journal.entries import (
    Draft,
    MessageImported,
    Payload,
    PermissionsChanged,
    PlanChanged,
    ThreadImported,
)
from turnwright.journal.errors import InvalidInput
from turnwright.journal.permissions.change import checked_permissions
from turnwright.journal.state_ops import Refusal, replaced_plan, replaced_tasks
from turnwright.journal.state_ops.limits import MEMORY_DOCUMENT_BYTES_MAX
from turnwright.journal.state_parts import PermissionState, PlanState, TaskState

_OWN_ENTRIES = ("permissions", "plan")


def import_thread(context: Context, command: ImportThread) -> Decision:
    """Begin the thread with the conversation."""
    refused = closed(context)
    if refused is not None:
        return refused
    if context.control.seq:
        return Rejection("thread_exists", "the thread has entries already; bring it to a thread of another name")
    state = _checked(command.state)
    if isinstance(state, Rejection):
        return state
    payloads: list[Payload] = [
        ThreadImported(
            source=command.source,
            state={name: value for name, value in command.state.items() if name not in _OWN_ENTRIES},
            messages=len(command.messages),
            digest=command.digest,
            notes=command.notes,
            principal=command.principal,
            reason=command.reason,
        )
    ]
    if state.permissions != PermissionState():
        payloads.append(PermissionsChanged(permissions=state.permissions, principal=command.principal))
    if state.plan != PlanState():
        payloads.append(PlanChanged(plan=state.plan, principal=command.principal))
    payloads += (MessageImported(message=message) for message in command.messages)
    return [Draft(entry_ids.command(command.request_id, n), payload) for n, payload in enumerate(payloads)]


def _checked(state: dict[str, Any]) -> AgentState | Rejection:
    """The state, if everything in it can be kept."""
    known = {name: value for name, value in state.items() if name in AgentState.model_fields}
    try:
        read = AgentState.model_validate(known)
        checked_permissions(read.permissions)
    except ValidationError as error:
        return Rejection("invalid_state", problem(error))
    except InvalidInput as error:
        return Rejection("invalid_state", str(error))
    tasks = read.tasks if read.tasks == TaskState() else replaced_tasks(TaskState(), read.tasks)
    if len(read.memory.document.encode()) > MEMORY_DOCUMENT_BYTES_MAX:
        return Rejection("invalid_state", f"the memory has more than {MEMORY_DOCUMENT_BYTES_MAX:,} bytes")
    for part in (tasks, replaced_plan(read.plan)):
        if isinstance(part, Refusal):
            return Rejection("invalid_state", part.message)
    return read
