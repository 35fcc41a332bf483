"""The commands of the terminal that answer a question, lift a pause or mend what cannot be read.

Rule: a sentence that says what is waited for says how to end it, ready to be typed.
"""

from __future__ import annotations

import shlex
from collections.abc import Collection

from turnwright.journal.acts import Level
from turnwright.journal.budgets import Scope
from turnwright.journal.entries.operation import InteractionKind
from turnwright.journal.ids import MAIN_THREAD, SessionKey, ThreadKey

_APPROVALS = {
    "approval": ("approve {0}", "deny {0}"),
    "form": ("answer {0} --answer JSON", "decline {0}"),
    "external": ("deliver {0} --output TEXT", "deliver {0} --failed"),
    "budget": ("raise {0} {1}", "fail {0}"),
}
_AMOUNTS = {
    "steps": "--steps N",
    "tokens": "--tokens N",
    "cost_microusd": "--cost-usd USD",
    "wall_time_s": "--wall-time SECONDS",
    "tool_calls": "--tool-calls N",
}


def ways_to_answer(
    kind: InteractionKind,
    interaction_id: str,
    *,
    key: ThreadKey,
    turn_id: str,
    call_id: str | None = None,
    scope: Scope | None = None,
    over: Collection[str] = (),
) -> tuple[str, ...]:
    """The commands, the usual one first. `over`: what of the budget that the question is about is used up."""
    if kind == "unknown_outcome":
        return (f"turnwright turn reconcile {turn_id} {call_id or 'CALL'} succeeded|failed|run_again --reason WHY",)
    amounts = " ".join(_AMOUNTS[name] for name in over if name in _AMOUNTS) or "--tokens N"
    name = shlex.quote(interaction_id)
    ways = tuple(f"turnwright approvals {way.format(name, amounts)}" for way in _APPROVALS[kind])
    if kind == "budget" and scope == "session":
        return f"turnwright session budget {shlex.quote(key.session)}{_user(key)} {amounts}", ways[1]
    return ways


def way_to_resume(level: Level, key: ThreadKey, turn_id: str) -> str:
    """The command that lifts the pause of a turn, its thread or its session."""
    session = shlex.quote(key.session)
    if level == "turn":
        return f"turnwright turn resume {turn_id}"
    if level == "session":
        return f"turnwright session resume {session}{_user(key)}"
    thread = "" if key.thread == MAIN_THREAD else f" --thread {shlex.quote(key.thread)}"
    return f"turnwright thread resume {session} {shlex.quote(key.agent)}{thread}{_user(key)}"


def way_to_rebuild(key: ThreadKey | SessionKey) -> str:
    """The command that writes anew what is only a projection of a session's entries."""
    return f"turnwright journal rebuild --session {shlex.quote(key.session)}{_user(key)}"


def way_to_verify(key: ThreadKey | SessionKey) -> str:
    """The command that names what of a session is not as it was written."""
    return f"turnwright journal verify --session {shlex.quote(key.session)}{_user(key)}"


def _user(key: ThreadKey | SessionKey) -> str:
    return "" if key.user is None else f" --user {shlex.quote(key.user)}"
