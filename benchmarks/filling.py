"""A journal with as many turns as are wanted, quickly: the rows of lists by the journal's own statements, no entries.

Rule: whatever the number, what is under way is the same: some turns wait in a queue, some questions are open. The
others have ended, some of them failed or cancelled, and some had a question. One user has a hundred turns, older than
all others. There are sessions without turns, so that a page of sessions is full.
"""

from __future__ import annotations

import asyncio
import hashlib
from dataclasses import dataclass

from turnwright.journal.commands import CreateSession, Submit
from turnwright.journal.ids import SessionKey, ThreadKey, turn_id
from turnwright.journal.messages import user
from turnwright.journal.script import Script, rows
from turnwright.journal.store import Journal
from turnwright.journal.transact.rows import ThreadRow, create_thread, find_session, find_thread
from turnwright.journal.transact.turns import turn_columns
from turnwright.journal.turn_status import Phase, TurnStatus

TURNS_A_THREAD, THREADS_A_SESSION = 20, 5
USERS, AGENTS = 50, 10
QUEUED, OPEN, IDLE_SESSIONS = 10, 20, 100
RARE_USER = "rare"
FAILED_EVERY, CANCELLED_EVERY, ASKED_EVERY = 50, 70, 10
SESSIONS_AT_ONCE = 16
BEGAN_US, TURN_US = 1_700_000_000_000_000, 1_000_000


@dataclass(frozen=True, slots=True)
class Filled:
    """Somewhere in the middle of what was written."""

    session: SessionKey
    turn: str


async def fill(journal: Journal, tenant: str, turns: int) -> Filled:
    """Write so many turns, a hundred to a session."""
    a_session = TURNS_A_THREAD * THREADS_A_SESSION
    keys = [
        SessionKey(tenant, f"user-{number % USERS}" if number else RARE_USER, f"session-{number}")
        for number in range(turns // a_session)
    ]
    for number in range(IDLE_SESSIONS):
        await journal.execute(SessionKey(tenant, "idle", f"idle-{number}"), CreateSession(request_id="create"))
    slots = asyncio.Semaphore(SESSIONS_AT_ONCE)

    async def one(number: int, key: SessionKey) -> None:
        async with slots:
            await journal.execute(key, CreateSession(request_id="create"))
            await journal.driver.write(lambda: _session(key, number * a_session))

    await asyncio.gather(*(one(number, key) for number, key in enumerate(keys)))
    live = ThreadKey(tenant, "user-1", "agent-1", "live")
    await journal.execute(live.session_key, CreateSession(request_id="create"))
    for number in range(QUEUED):
        request = f"live-{number}"
        await journal.execute(live, Submit(request_id=request, turn_id=turn_id(live, request), input=user("begin")))
    await journal.driver.write(lambda: _open_questions(live))
    middle = len(keys) // 2
    return Filled(keys[middle], _turn_id(tenant, middle * a_session))


def _session(key: SessionKey, before: int) -> Script[None]:
    session = yield from find_session(key)
    assert session is not None
    for number in range(THREADS_A_SESSION):
        first = before + number * TURNS_A_THREAD
        thread = ThreadKey(key.tenant, key.user, f"agent-{number % AGENTS}", key.session, f"thread-{number}")
        yield from create_thread(thread, session.id, BEGAN_US + first * TURN_US)
        row = yield from find_thread(thread)
        assert row is not None
        for turn in range(first, first + TURNS_A_THREAD):
            yield from _turn(row, turn)


def _turn(row: ThreadRow, number: int) -> Script[None]:
    at_us, seq = BEGAN_US + number * TURN_US, number % TURNS_A_THREAD + 1
    phase: Phase = "completed"
    if number % FAILED_EVERY == 0:
        phase = "failed"
    elif number % CANCELLED_EVERY == 0:
        phase = "cancelled"
    name = _turn_id(row.key.tenant, number)
    status = TurnStatus(
        turn_id=name, request_id=f"request-{number}", phase=phase, queue_order=seq, queued_seq=seq,
        queued_at_us=at_us, started_at_us=at_us, ended_at_us=at_us + TURN_US,
    )  # fmt: skip
    yield from rows("upsert_turn", *turn_columns(row, status, at_us))
    if number % ASKED_EVERY == 0:
        yield from _question(row, name, f"q-{name}", at_us, at_us + 1)


def _open_questions(key: ThreadKey) -> Script[None]:
    row = yield from find_thread(key)
    assert row is not None
    for number in range(OPEN):
        yield from _question(row, turn_id(key, "live-0"), f"q-open-{number}", BEGAN_US + number, None)


def _question(row: ThreadRow, turn: str, name: str, asked_us: int, settled_us: int | None) -> Script[None]:
    state, resolution, settled_seq = ("open", None, None) if settled_us is None else ("resolved", "approved", 1)
    yield from rows(
        "upsert_interaction", row.id, name, row.session_id, row.key.tenant, turn, "approval", None, "refund", state,
        resolution, "", 0, settled_seq, asked_us, settled_us, None,
    )  # fmt: skip


def _turn_id(tenant: str, number: int) -> str:
    return f"t-{hashlib.sha256(f'{tenant} {number}'.encode()).hexdigest()[:32]}"
