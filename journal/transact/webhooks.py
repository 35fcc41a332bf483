"""Webhooks in the store.

Rule: the entries are the outbox, so committing one writes nothing here. A webhook only moves from where it was read to
stand, and while it is active: of two who deliver at once the slower one notices.
"""

from __future__ import annotations

import json
from dataclasses import dataclass

from turnwright.journal.canonical import encode
from turnwright.journal.durations import SECOND_US
from turnwright.journal.errors import InvalidInput, RequestIdReused
from turnwright.journal.ids import SessionKey, ThreadKey
from turnwright.journal.script import Row, Script, Touch, first, rows
from turnwright.journal.sealing.values import Unopened, is_marked
from turnwright.journal.transact.listing import Page, place_of
from turnwright.journal.transact.rows import clock, find_session_id
from turnwright.journal.webhooks import (
    DueWebhook,
    Failure,
    NewWebhook,
    Progress,
    RetryTerms,
    WantedWebhook,
    Webhook,
    after_failure,
)

TOPIC = "webhooks"
ACTIVE_OF_A_SESSION_MAX = 100


@dataclass(frozen=True, slots=True)
class Due:
    """A page of webhooks that are due. `after`: where the next page begins, '' when there is no more.

    `wait_s`: when the next one is to be tried again; None: none failed. `active`: how many there are, due or not.
    """

    webhooks: tuple[DueWebhook, ...]
    after: str
    wait_s: float | None
    active: int


def insert_webhook(
    webhook_id: str, key: SessionKey, wanted: WantedWebhook, principal: str, secret: str
) -> Script[NewWebhook | None]:
    """Keep a new webhook; one that is there already under that id is answered as it was, to who made it.

    None: there is no such session, or no such turn in it.

    Raises:
        InvalidInput: the session has as many as it may.
        RequestIdReused: the id is that of a different webhook, or of somebody else's.
    """
    row = yield from first("lock_session", key.canonical)
    if row is None or row[3] is not None:
        return None
    known = yield from first("find_webhook", webhook_id)
    if known is not None:
        return _as_before(key, row[0], known, wanted, principal)
    position = yield from _begin(key, row[0], wanted)
    if position is None:
        return None
    counted = yield from first("count_webhooks", row[0])
    if counted is not None and counted[0] >= ACTIVE_OF_A_SESSION_MAX:
        raise InvalidInput(f"the session has {counted[0]} active webhooks, which is the most it may; delete one")
    now_us = yield from clock()
    turn_id, types = wanted.turn_id or "", encode(list(wanted.types))
    yield from first(
        "insert_webhook", webhook_id, row[0], turn_id, wanted.url, types, secret, principal, now_us, position
    )
    yield Touch(frozenset({TOPIC}))
    webhook = Webhook(
        webhook_id, key, wanted.turn_id, wanted.url, wanted.types, principal, now_us, "active", position
    )  # fmt: skip
    return NewWebhook(webhook, secret)


def list_webhooks(key: SessionKey, turn_id: str | None, after: str | None, limit: int) -> Script[Page[Webhook] | None]:
    """A page of a session's webhooks, or of one turn's, oldest first; None when there is no such session or turn."""
    session_id = yield from find_session_id(key)
    if session_id is None:
        return None
    if turn_id is not None and (yield from _begin_of_turn(key, session_id, turn_id, 0)) is None:
        return None
    created_us, webhook_id = (0, "") if after is None else place_of(after)
    found = yield from rows("webhooks_of_session", session_id, turn_id or "", created_us, webhook_id, limit)
    webhooks = tuple(_webhook(key, row) for row in found)
    last = webhooks[-1] if len(webhooks) == limit else None
    return Page(webhooks, None if last is None else f"{last.created_us}.{last.webhook_id}")


def delete_webhook(key: SessionKey, turn_id: str | None, webhook_id: str) -> Script[bool]:
    """Remove a webhook of the session, or of the turn; whether it was there."""
    session_id = yield from find_session_id(key)
    row = None if session_id is None else (yield from first("delete_webhook", session_id, turn_id or "", webhook_id))
    yield Touch(frozenset({TOPIC}))
    return row is not None


def find_due(after: str, limit: int) -> Script[Due]:
    """A page of the webhooks that have something to deliver now, of those whose addresses can be opened."""
    now_us = yield from clock()
    found = yield from rows("due_webhooks", now_us, after, limit)
    row = yield from first("next_webhook_try", now_us)
    next_us, active = (None, 0) if row is None else row
    wait_s = None if next_us is None else (next_us - now_us) / SECOND_US
    due = tuple(_due(item) for item in found if not any(map(_is_hidden, item)))
    return Due(due, found[-1][0] if len(found) == limit else "", wait_s, active)


def save_reached(webhook_id: str, before: int, position: int, *, done: bool) -> Script[bool]:
    """Say that the receiver has come so far; whether the webhook still stood at `before`."""
    ended_us = (yield from clock()) if done else 0
    progress = Progress(position, state="done" if done else "active", ended_us=ended_us)
    return (yield from _move(webhook_id, before, progress))


def save_failure(
    webhook_id: str, before: int, position: int, failure: Failure, terms: RetryTerms
) -> Script[Progress | None]:
    """Say that the receiver has come so far and failed there; None when the webhook does not stand at `before`."""
    row = yield from first("find_webhook", webhook_id)
    if row is None:
        return None
    now_us = yield from clock()
    progress = after_failure(Progress(*row[8:]), position, failure, now_us, terms, webhook_id)
    return progress if (yield from _move(webhook_id, before, progress)) else None


def _move(webhook_id: str, before: int, to: Progress) -> Script[bool]:
    row = yield from first(
        "move_webhook", webhook_id, before,
        to.position, to.state, to.tries, to.failing_since_us, to.next_try_us, to.last_error, to.ended_us,
    )  # fmt: skip
    yield Touch(frozenset({TOPIC}))
    return row is not None


def _begin(key: SessionKey, session_id: int, wanted: WantedWebhook) -> Script[int | None]:
    """The position to begin behind; None: there is no such turn in the session."""
    last = yield from first("last_position", session_id)
    now = 0 if last is None else int(last[0])
    begin: int | None = now
    if wanted.turn_id is not None:
        begin = yield from _begin_of_turn(key, session_id, wanted.turn_id, now)
    return begin if begin is None or wanted.after is None else min(wanted.after, now)


def _begin_of_turn(key: SessionKey, session_id: int, turn_id: str, now: int) -> Script[int | None]:
    row = yield from first("turn_begin", turn_id)
    if row is not None:
        return None if row[0] != session_id else now if row[1] is None else int(row[1]) - 1
    enlisted = yield from first("find_enlisted", turn_id)
    return now if enlisted is not None and ThreadKey.parse(enlisted[0]).session_key == key else None


def _as_before(key: SessionKey, session_id: int, row: Row, wanted: WantedWebhook, principal: str) -> NewWebhook:
    """The secret is in the answer, and shown to nobody who was not shown it before."""
    known = _webhook(key, row)
    same = (known.turn_id, known.url, known.types) == (wanted.turn_id, wanted.url, wanted.types)
    if row[1] != session_id or not same or known.principal != principal:
        raise RequestIdReused("the request id was used for a different webhook, or by somebody else; use a new one")
    return NewWebhook(known, row[5])


def _webhook(key: SessionKey, row: Row) -> Webhook:
    webhook_id, _, turn_id, url, types, _, principal, created_us, *rest = row
    so_far = Progress(*rest)
    return Webhook(
        webhook_id, key, turn_id or None, url, tuple(json.loads(bytes(types))), principal, created_us,
        "failing" if so_far.state == "active" and so_far.tries else so_far.state,
        so_far.position, so_far.tries, so_far.last_error or None,
        so_far.failing_since_us or None, so_far.next_try_us or None, so_far.ended_us or None,
    )  # fmt: skip


def _is_hidden(value: object) -> bool:
    """Whether it wants a key that is not here, or one that went with its session; nobody else has to wait for it."""
    return isinstance(value, Unopened) or is_marked(value)


def _due(row: Row) -> DueWebhook:
    webhook_id, key, turn_id, url, types, secret, position = row
    session = SessionKey(*json.loads(key))
    return DueWebhook(webhook_id, session, turn_id or None, url, frozenset(json.loads(bytes(types))), secret, position)
