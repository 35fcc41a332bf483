"""The lines of transcripts.

Rule: functions of what the journal holds, so a file that is written anew is the same. The first line says whose it is.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Literal

from turnwright.journal.agent_state import AgentState
from turnwright.journal.ids import SessionKey, ThreadKey
from turnwright.journal.messages import Message
from turnwright.journal.transact.reading import Located
from turnwright.journal.view import BRIEFING, request_messages

Kind = Literal["log", "view"]


def header(kind: Kind, journal_id: str, key: SessionKey) -> bytes:
    """The first line."""
    return _line({
        "transcript": kind, "journal": journal_id, "tenant": key.tenant, "user": key.user, "session": key.session,
    })  # fmt: skip


def log_line(located: Located) -> bytes:
    """An entry, whole, and the thread it is of (agent and thread are empty for the session's own)."""
    return _line({"agent": located.thread.agent, "thread": located.thread.thread} | located.entry.as_json())


def view_lines(key: ThreadKey, state: AgentState) -> tuple[bytes, ...]:
    """What the thread's next request says of the conversation.

    A step whose calls still run is not in a request yet, so it comes with their results. What only that moment's
    request would say, of tasks and plan, is left out.
    """
    messages = request_messages(state)
    return tuple(
        _view_line(key, message) for message in messages[: _settled(state, messages)] if message.id != BRIEFING
    )


def _settled(state: AgentState, messages: tuple[Message, ...]) -> int:
    """How many messages of the view stand before a last step that waits for results."""
    steps = [message for message in state.context if message.role == "assistant"]
    last = steps[-1] if steps and state.context[-1].role in ("assistant", "tool") else None
    there = {result.id for message in state.context for result in message.results}
    if last is None or all(call.id in there for call in last.calls):
        return len(messages)
    return next((n for n, message in enumerate(messages) if message.id == last.id), len(messages))


def _view_line(key: ThreadKey, message: Message) -> bytes:
    dumped = message.model_dump(mode="json", exclude_defaults=True)
    return _line({"agent": key.agent, "thread": key.thread, "role": message.role} | dumped)


def thread_of(line: Mapping[str, Any]) -> tuple[str, str]:
    """Agent and thread of a line."""
    return str(line.get("agent")), str(line.get("thread"))


def _line(value: Mapping[str, Any]) -> bytes:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode() + b"\n"
