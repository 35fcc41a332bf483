"""Workflow ids: `tw/{journal id}/{kind}/{readable prefix}~{hash}`; task queues; the names workflows are looked for by.

Rule: the hash alone tells two things apart; the prefix is for people. Two journals on one Temporal
never meet, and no id comes near the server's limit of 1,000 bytes.
"""

from __future__ import annotations

import re
from typing import Literal

from turnwright.journal.canonical import digest
from turnwright.journal.ids import SessionKey, ThreadKey

Kind = Literal["session", "thread", "turn", "schedule", "tick"]
PREFIX_CHARACTERS_MAX = 60
SEARCH_ATTRIBUTES = tuple(f"Turnwright{name}" for name in ("Tenant", "User", "Session", "Agent", "Turn"))
_UNREADABLE = re.compile(r"[^A-Za-z0-9_.-]+")


def default_task_queue(journal_id: str) -> str:
    """The task queue of a journal for which none is named: on one Temporal, workers of another never get its tasks."""
    return f"turnwright-{journal_id}"


def journal_of(workflow_id: str) -> str | None:
    """The id of the journal a workflow belongs to; None when it is none of Turnwright's."""
    match workflow_id.split("/", 3):
        case ["tw", journal_id, _, _]:
            return journal_id
    return None


def session_workflow_id(journal_id: str, key: SessionKey) -> str:
    """The id of a session's workflow."""
    return _workflow_id(journal_id, "session", key.session, key.canonical)


def thread_workflow_id(journal_id: str, key: ThreadKey) -> str:
    """The id of a thread's workflow."""
    return _workflow_id(journal_id, "thread", f"{key.session}.{key.agent}.{key.thread}", key.canonical)


def turn_workflow_id(journal_id: str, key: ThreadKey, turn_id: str) -> str:
    """The id of a turn's workflow."""
    return _workflow_id(journal_id, "turn", f"{key.session}.{key.agent}.{turn_id[:10]}", key.canonical, turn_id)


def schedule_id(journal_id: str, key: SessionKey, generation: int) -> str:
    """The id of a schedule; those of one name that follow each other differ."""
    return _workflow_id(journal_id, "schedule", f"{key.session}.{generation}", key.canonical, str(generation))


def tick_workflow_id(journal_id: str, key: SessionKey, generation: int, again_us: int = 0) -> str:
    """The id of the workflows of a schedule's ticks; Temporal adds the time.

    `again_us`: when the schedule was set right. What was begun before may hang where nobody works, under its time's id.
    """
    ticks = _workflow_id(journal_id, "tick", f"{key.session}.{generation}", key.canonical, str(generation))
    return f"{ticks}/{again_us}" if again_us else ticks


def ticks_named(workflow_id: str) -> str:
    """The id of a schedule's ticks, however often the schedule was set right."""
    readable, mark, unique = workflow_id.rpartition("~")
    return readable + mark + unique.partition("/")[0]


def schedules_prefix(journal_id: str) -> str:
    """How the ids of a journal's schedules begin."""
    return f"tw/{journal_id}/schedule/"


def _workflow_id(journal_id: str, kind: Kind, readable: str, *identity: str) -> str:
    prefix = _UNREADABLE.sub("-", readable).strip("-")[:PREFIX_CHARACTERS_MAX]
    unique = digest(*(part.encode() for part in identity)).hex()[:32]
    return f"tw/{journal_id}/{kind}/{prefix}~{unique}"
