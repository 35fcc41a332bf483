"""Which statements write what is sealed, and which read it.

Rule: content is sealed, what stores look for is not: keys of sessions and threads, ids, types, times, numbers, hashes
of the chain. A statement that touches a sealed column and is not listed here fails a test.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Literal, NamedTuple


@dataclass(frozen=True, slots=True)
class Write:
    """Parameters that are sealed, by their place (from 0), each with its label; and whose they are: `owner` is the
    parameter with the id of the session or thread. `nobody`: of no session yet.
    """

    labels: Mapping[int, str]
    of: Literal["session", "thread", "nobody"]
    owner: int = 0


class Body(NamedTuple):
    """Where a row has the parts of an entry's content (None: it does not have them).

    A sealed entry's salt is within its body, and what stands in the salt's place is what the chain covers, as it is of
    an erased one. So without its data key it is one, and of one that cannot be opened, or whose blob cannot be, the
    digest is given for a salt.
    """

    salt: int | None
    body: int
    blob: int | None = None
    blob_body: int | None = None


class Owner(NamedTuple):
    """Where a row has the ids of a session and of a thread (None: it does not), and a control of it, which says by
    which data key it was sealed.
    """

    session: int
    thread: int | None
    control: int


@dataclass(frozen=True)
class Read:
    """Columns that are opened, by their place, each with its label.

    `singly`: its rows are judged one by one, so one that cannot be opened is given as it is (`Unopened`).
    """

    labels: Mapping[int, str] = field(default_factory=dict)
    body: Body | None = None
    owners: tuple[Owner, ...] = ()
    singly: bool = False

    @cached_property
    def places(self) -> tuple[int, ...]:
        """All of its columns that may be sealed."""
        body = () if self.body is None else (self.body.body, self.body.blob_body)
        return (*self.labels, *(place for place in body if place is not None))


BODY, BLOB, CONTROL, TURN = "body", "blob", "control", "turn"
CHECKPOINT, RECEIPT, DIGEST, ENLISTED, DRAFT = "checkpoint", "receipt", "digest", "enlisted", "draft"
URL, SECRET = "url", "secret"

WRITES: Mapping[str, Write] = {
    "insert_thread": Write({7: CONTROL}, "session", 1),
    "update_session": Write({1: CONTROL}, "session", 0),
    "replace_head": Write({5: CONTROL}, "thread", 0),
    "insert_blob": Write({3: BLOB}, "session", 0),
    "insert_checkpoint": Write({3: CHECKPOINT}, "thread", 0),
    "upsert_turn": Write({7: TURN}, "session", 2),
    "insert_request": Write({3: DIGEST, 4: RECEIPT}, "thread", 0),
    "import_request": Write({3: DIGEST, 4: RECEIPT}, "thread", 0),
    "insert_draft": Write({7: DRAFT}, "thread", 0),
    "insert_webhook": Write({3: URL, 5: SECRET}, "session", 1),
    "post": Write({4: ENLISTED}, "nobody"),
    "reseal_blob": Write({2: BLOB}, "session", 0),
    "reseal_request": Write({2: DIGEST, 3: RECEIPT}, "thread", 0),
    "reseal_session": Write({1: CONTROL}, "session", 0),
    "reseal_thread": Write({1: CONTROL}, "thread", 0),
    "reseal_turn": Write({2: TURN}, "thread", 0),
    "reseal_webhook": Write({2: URL, 3: SECRET}, "session", 0),
}
PAYLOADS: Mapping[str, tuple[int, int, int]] = {
    "import_payload": (2, 3, 4),
    "reseal_payload": (2, 3, 4),
}
"""Statements that write an entry's content, for the thread whose id comes first: places of salt, body, blob."""

_THREAD = Owner(1, 0, 6)
_HEAD = Read({6: CONTROL}, owners=(_THREAD,), singly=True)
_SESSION = Read({1: CONTROL}, owners=(Owner(0, None, 1),), singly=True)
_SWEPT = Read({4: CONTROL, 11: TURN}, singly=True)
_LISTED_TURN = Read({2: TURN, 4: CONTROL, 6: CONTROL}, singly=True)
_LISTED = Read({2: CONTROL}, singly=True)
_ENTRY = Read(body=Body(None, 13, 14, 15), singly=True)
_QUESTION = Read(body=Body(None, 16, 17), singly=True)
_WEBHOOK = Read({3: URL, 5: SECRET})

READS: Mapping[str, Read] = {
    "find_session": _SESSION,
    "lock_session": _SESSION,
    "raw_session": Read({1: CONTROL}, singly=True),
    "sessions_of_tenant": _LISTED,
    "sessions_of_user": _LISTED,
    "sessions_of_nobody": _LISTED,
    "find_thread": _HEAD,
    "lock_thread": _HEAD,
    "lock_in_session": Read({6: CONTROL, 15: CONTROL}, owners=(_THREAD, Owner(14, None, 15)), singly=True),
    "raw_thread": Read({7: CONTROL}, singly=True),
    "threads_of_session": _LISTED,
    "threads_with_turns": Read({4: CONTROL}, singly=True),
    "exported_threads": Read({4: CONTROL}),
    "stalled_threads": _SWEPT,
    "doomed_threads": _SWEPT,
    "expired_threads": _SWEPT,
    "overdue_threads": _SWEPT,
    "find_turn": Read({1: TURN}),
    "turn_rows": Read({1: TURN}, singly=True),
    "turn_bodies": Read({1: TURN}),
    "turns_to_seal": Read({1: TURN}),
    "front_turn": Read({0: TURN}),
    "queued_turns": Read({0: TURN}),
    "turns_of_tenant": _LISTED_TURN,
    "turns_of_agent": _LISTED_TURN,
    "turns_of_owner": _LISTED_TURN,
    "turns_of_session": _LISTED_TURN,
    "turns_in_session": _LISTED_TURN,
    "turns_in_phase": _LISTED_TURN,
    "turns_without_agent": _LISTED_TURN,
    "read_entries": _ENTRY,
    "turn_entries": _ENTRY,
    "turn_entry": _ENTRY,
    "step_entries": _ENTRY,
    "read_session": _ENTRY,
    "raw_entries": Read(body=Body(13, 14, 15, 16), singly=True),
    "exported_entries": Read(body=Body(13, 14, 15)),
    "find_payload": Read(body=Body(2, 3, 4, 5), singly=True),
    "turn_inputs": Read(body=Body(None, 4), singly=True),
    "inbox_of_tenant": _QUESTION,
    "inbox_of_session": _QUESTION,
    "inbox_open": _QUESTION,
    "inbox_open_of_session": _QUESTION,
    "find_blob": Read({0: BLOB}),
    "find_inherited_blob": Read({0: BLOB}),
    "next_blob": Read({1: BLOB}),
    "find_checkpoint": Read({1: CHECKPOINT}),
    "checkpoint_rows": Read({1: CHECKPOINT}, singly=True),
    "find_request": Read({1: DIGEST, 2: RECEIPT}),
    "request_rows": Read({2: RECEIPT}, singly=True),
    "requests_named": Read({1: RECEIPT}),
    "exported_requests": Read({2: DIGEST, 3: RECEIPT}),
    "read_drafts": Read({6: DRAFT}),
    "find_webhook": _WEBHOOK,
    "webhooks_of_session": _WEBHOOK,
    "due_webhooks": Read({3: URL, 5: SECRET}, singly=True),
    "first_enlisted": Read({1: ENLISTED}),
}
