"""What a thread's control begins with, or goes on with: its agent's terms, an imported state, another entry's.

Rule: a control is a fold of its own log, so whatever of another entry's it goes by is in the payload.
"""

from __future__ import annotations

from typing import Any

from turnwright.journal.agents import AgentDefinition
from turnwright.journal.control import ThreadControl
from turnwright.journal.entries import Entry, ThreadForked, ThreadImported, ThreadOpened, ThreadRewound
from turnwright.journal.permissions.change import joined
from turnwright.journal.state_parts import PermissionState


def opened(control: ThreadControl, _: Entry, payload: ThreadOpened) -> dict[str, Any]:
    """The agent is pinned; what was imported before it holds beside what it brings."""
    return _pinned(control, payload.agent)


def _pinned(control: ThreadControl, agent: AgentDefinition) -> dict[str, Any]:
    return {
        "opened": True,
        "limits": agent.limits,
        "permissions": joined(agent.permissions, control.permissions),
        "approvals": agent.approvals,
    }


def forked(control: ThreadControl, entry: Entry, payload: ThreadForked) -> dict[str, Any]:
    """The agent is the origin's, if it had one by then, and may what it might there."""
    pinned = {} if payload.agent is None else _pinned(control, payload.agent)
    return pinned | based(control, entry, payload)


def based(_: ThreadControl, __: Entry, payload: ThreadForked | ThreadRewound) -> dict[str, Any]:
    """What held at the entry that the thread begins or goes on with."""
    return {"permissions": payload.permissions, "planning": payload.planning, "injected": payload.injected}


def imported(_: ThreadControl, __: Entry, payload: ThreadImported) -> dict[str, Any]:
    """What an imported state says of permissions and plan."""
    permissions, plan = payload.state.get("permissions"), payload.state.get("plan")
    planning = isinstance(plan, dict) and bool(plan.get("active", False))
    known = {} if permissions is None else {"permissions": PermissionState.model_validate(permissions)}
    return {"planning": planning} | known
