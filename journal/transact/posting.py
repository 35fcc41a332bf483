"""Rows of the inbox that transactions of ours write, for other threads.

Rule: a row is written in the transaction that it follows from, and whoever looks at the inbox takes it in. What is no
submit is a submit with one field more: a version that does not know the field leaves the row for one that does.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from turnwright.journal.canonical import encode
from turnwright.journal.commands import TakeIn
from turnwright.journal.entries import Entry
from turnwright.journal.messages import Message
from turnwright.journal.posts import ChildEnd, Post, posts_of
from turnwright.journal.script import Script, Touch, batch
from turnwright.journal.transact.requests import given
from turnwright.journal.transact.rows import ThreadRow
from turnwright.journal.turn_status import TurnStatus

TOPIC = "inbox"
END = "child_end"
CANCEL = "child_cancel"
_NOTHING = Message(role="system")


def post(row: ThreadRow, entries: Iterable[Entry], changed: Mapping[str, TurnStatus], now_us: int) -> Script[None]:
    """Write what follows for other threads from entries on this one."""
    posts = posts_of(row.key, row.control, entries, changed)
    if not posts:
        return
    yield from batch("post", tuple(_columns(one, now_us) for one in posts))
    yield Touch(frozenset({TOPIC}))


def _columns(one: Post, now_us: int) -> tuple[object, ...]:
    key, what = one.to, one.what
    if isinstance(what, TakeIn):
        turn_id, request_id, body = what.turn_id, what.request_id, given(what)
    else:
        # Of no turn: who looks for what was enlisted as a turn must not find it.
        field = END if isinstance(what, ChildEnd) else CANCEL
        turn_id = request_id = f"{field}:{one.child_turn}"
        submit = TakeIn(request_id=request_id, turn_id=turn_id, input=_NOTHING)
        body = given(submit) | {field: what.model_dump(mode="json", exclude_defaults=True)}
    return key.canonical, key.session_key.canonical, turn_id, request_id, encode(body), now_us
