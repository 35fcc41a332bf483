"""What a sweeper reads and remembers: threads with work that nobody carries on.

Rule: nothing here decides about a turn. A wake-up is taken in a transaction of its own before it is given, so
that two sweepers at once do not both count it; whoever is woken decides under the thread's lock as always.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Literal

from turnwright.journal.budgets import Budget
from turnwright.journal.control import REDUCER_VERSION, Claim, PauseFlag, SessionControl, ThreadControl
from turnwright.journal.durations import SECOND_US
from turnwright.journal.errors import UNREADABLE, NewerReducer
from turnwright.journal.facts import Facts
from turnwright.journal.ids import ThreadKey
from turnwright.journal.plan import RESERVED_WAIT_US
from turnwright.journal.script import Liveness, Row, Script, Touch, batch, find_dead, first, rows
from turnwright.journal.stalls import Carried, Stalled, Verdict, backoff_us, examine, head_turn
from turnwright.journal.transact.rows import clock, misplaced, read_control, read_row
from turnwright.journal.transact.thread_script import Terms
from turnwright.journal.turn_status import TurnStatus
from turnwright.journal.ways import way_to_rebuild

TOPIC = "hints"
BROKEN_CHECK_US = 30 * SECOND_US
SOON_US = 10 * SECOND_US  # so long Temporal gives a task to the worker that had the workflow before, alive or not
WAKE_US = 10_000  # about what Temporal on two cores needs to carry one out, so that of many none is repeated at once
NOT_KNOWN = Budget()  # whether a session's budget has room is judged under its lock, not by a look
Why = Literal["due", "stalled", "cancelled", "expired"]


@dataclass(frozen=True, slots=True)
class Glance:
    """How to look. `urgent`: a worker just died, so hints and `stall_us` do not count for threads that had an
    entry within `recent_us`; older ones without a dead claimant are left to the next ordinary look. `afresh`: hints do
    not count.
    """

    stall_us: int
    limit: int
    urgent: bool = False
    afresh: bool = False
    recent_us: int = 10 * SECOND_US


@dataclass(frozen=True, slots=True)
class Suspect:
    """A thread nobody carries on. `wakes` counts this wake-up and those before it without progress.

    `urgent`: a worker has just died, and may have held a task of its workflows. `orphans`: nonces of the attempts that
    died with their worker; `unclaimed`: calls of the same step are due that no attempt has claimed.
    """

    key: ThreadKey
    thread_id: int
    seq: int
    turn_id: str | None
    epoch: int
    wakes: int
    why: Why
    counted: bool = True
    urgent: bool = False
    orphans: tuple[str, ...] = ()
    unclaimed: bool = False


@dataclass(frozen=True, slots=True)
class Broken:
    """A thread whose control this process cannot read; `newer`: only because a newer version wrote it."""

    key: str
    thread_id: int
    seq: int
    error: str
    newer: bool = False


@dataclass(frozen=True, slots=True)
class Page:
    """What one look found. `after`: where the next page begins, and behind which thread; None when there is no more."""

    now_us: int
    suspects: tuple[Suspect, ...] = ()
    carried: tuple[tuple[int, int, int], ...] = ()
    broken: tuple[Broken, ...] = ()
    after: int | None = None
    after_thread: int = 0


@dataclass(frozen=True, slots=True)
class _Thread:
    """A row of the looks' statements, read. `old`: an older version folded its control, which is not read then."""

    key: ThreadKey
    id: int
    seq: int
    at_us: int
    control: ThreadControl
    session: SessionControl
    front: TurnStatus | None
    wakes: int
    hint_due: bool
    old: bool = False

    def suspect(self, why: Why) -> Suspect:
        """The thread as one to be woken; a hint that is not due yet is not one more useless wake-up."""
        facts = Facts(0, front=self.front)
        wakes = self.wakes + self.hint_due
        return Suspect(
            self.key, self.id, self.seq, head_turn(self.control, facts), self.control.epoch, wakes, why, self.hint_due
        )


def find_stalled(after: int, glance: Glance, terms: Terms) -> Script[Page]:
    """A page of threads with work, by id, judged."""
    now_us = yield from clock()
    before_us = now_us if glance.urgent else now_us - glance.stall_us
    any_hint, any_wait = int(glance.urgent or glance.afresh), int(glance.urgent)
    bounds = (after, now_us, before_us, any_hint, glance.limit, any_wait, now_us + RESERVED_WAIT_US)
    found = yield from rows("stalled_threads", *bounds)
    threads, broken = _read_all(found, now_us)
    known = yield from find_dead(frozenset(c.presence for t in threads for c in _claims(t)) - {terms.presence or ""})
    gone = _gone(dict(known), now_us, terms)
    verdicts = [(thread, _judge(thread, gone, glance)) for thread in threads]
    return Page(
        now_us,
        tuple(
            _suspect(t, v, gone, glance)
            for t, v in verdicts
            if isinstance(v, Stalled) and _matters(t, v, now_us, glance)
        ),
        tuple((t.id, t.seq, v.until_us) for t, v in verdicts if isinstance(v, Carried) and not glance.urgent),
        broken,
        found[-1][0] if len(found) == glance.limit else None,
    )


def find_cancelled(
    after_session: int, sessions: int, limit: int, after_thread: int = 0, *, afresh: bool = False
) -> Script[Page]:
    """Threads with turns that their session's cancel should have ended, of a page of sessions.

    `afresh`: hints do not count, and a session with many is gone through in pages, from `after_thread` on.
    """
    now_us = yield from clock()
    page = yield from rows("sessions_with_turns", after_session, sessions)
    after, next_thread = page[-1][0] if len(page) == sessions else None, 0
    found: list[Row] = []
    for session_id, oldest in page:
        cancelled = yield from first("cancelled_seq", session_id)
        if cancelled is not None and cancelled[0] > oldest:
            bounds = (session_id, cancelled[0], now_us, limit, after_thread, int(afresh))
            some = yield from rows("doomed_threads", *bounds)
            found += some
            if afresh and len(some) == limit:
                after, next_thread = session_id - 1, some[-1][0]
                break
        after_thread = 0
    threads, broken = _read_all(found, now_us)
    suspects = tuple(thread.suspect("cancelled") for thread in threads)
    return Page(now_us, suspects, broken=broken, after=after, after_thread=next_thread)


def find_unreadable(after: int, limit: int) -> Script[Page]:
    """Of a page of threads with turns that have not ended, whatever they wait for, those that cannot be read."""
    now_us = yield from clock()
    found = yield from rows("threads_with_turns", after, limit)
    _, broken = _read_all(found, now_us)
    return Page(now_us, broken=broken, after=found[-1][0] if len(found) == limit else None)


def find_expired(limit: int) -> Script[Page]:
    """Threads with an open question whose time is up, the longest overdue first."""
    now_us = yield from clock()
    return _expired(now_us, (yield from rows("expired_threads", now_us, limit)))


def find_overdue(after: int, limit: int) -> Script[Page]:
    """A page of them, by id, whatever hints say."""
    now_us = yield from clock()
    found = yield from rows("overdue_threads", now_us, after, limit)
    return replace(_expired(now_us, found), after=found[-1][0] if len(found) == limit else None)


def _expired(now_us: int, found: Iterable[Row]) -> Page:
    threads, broken = _read_all(found, now_us)
    return Page(now_us, tuple(thread.suspect("expired") for thread in threads), broken=broken)


def take_wakes(page: Page) -> Script[tuple[Suspect, ...]]:
    """Remember the look, and say which suspects are ours to wake."""
    taken: list[Suspect] = []
    others_us = max(0, len(page.suspects) - 1) * WAKE_US
    for suspect in sorted(page.suspects, key=lambda s: s.thread_id):  # one order, or two sweepers deadlock
        until_us = page.now_us + backoff_us(suspect.wakes) + others_us
        row = yield from first(
            "take_wake",
            suspect.thread_id, suspect.seq, until_us, suspect.wakes, page.now_us, int(not suspect.counted),
        )  # fmt: skip
        if row is not None:
            taken.append(suspect)
    carried = [*page.carried, *((b.thread_id, b.seq, page.now_us + BROKEN_CHECK_US) for b in page.broken)]
    yield from batch("carry_hint", tuple(sorted(carried)))
    yield Touch(frozenset({TOPIC}))
    return tuple(taken)


def put_back(suspects: Iterable[Suspect]) -> Script[None]:
    """As if these had not been taken: nobody could be woken."""
    yield from batch("put_back_wake", tuple((s.thread_id, s.wakes - s.counted) for s in suspects))
    yield Touch(frozenset({TOPIC}))


def forget_hints() -> Script[None]:
    """Look at everything again, counting from the beginning."""
    yield from first("forget_hints")
    yield Touch(frozenset({TOPIC}))


def prune_hints(limit: int) -> Script[None]:
    """Drop hints of threads without work."""
    yield from first("prune_hints", limit)
    yield Touch(frozenset({TOPIC}))


def _read_all(found: Iterable[Row], now_us: int) -> tuple[list[_Thread], tuple[Broken, ...]]:
    """Rows as values; one that cannot be read must not hide the others."""
    threads: list[_Thread] = []
    broken: list[Broken] = []
    for row in found:
        try:
            threads.append(_read(row, now_us))
        except UNREADABLE as error:
            broken.append(Broken(row[1], row[0], row[2], str(error), newer=isinstance(error, NewerReducer)))
    return threads, tuple(broken)


def _read(row: Row, now_us: int) -> _Thread:
    thread_id, key, seq, at_us, control, version, paused, cancelled, hint_seq, next_check_us, wakes, front = row
    key_, old = ThreadKey.parse(key), version < REDUCER_VERSION
    read = ThreadControl() if old else read_control(ThreadControl, control, version, key_)
    if not old and read.seq != seq:
        raise misplaced(key_, read.seq, seq)
    same = hint_seq == seq
    return _Thread(
        key=key_,
        id=thread_id,
        seq=seq,
        at_us=at_us,
        control=read,
        session=SessionControl(pause=PauseFlag(on=bool(paused)), cancelled_seq=cancelled, budget=NOT_KNOWN),
        front=None if front is None or old else read_row(TurnStatus, front, key, way_to_rebuild(key_)),
        wakes=wakes if same else 0,
        hint_due=not same or next_check_us <= now_us,
        old=old,
    )


def _claims(thread: _Thread) -> tuple[Claim, ...]:
    active = thread.control.active
    return () if active is None else active.claims


def _gone(known: dict[str, Liveness], now_us: int, terms: Terms) -> Facts:
    lapsed = {p: at.beat_age_s or 0 for p, at in known.items() if at.state == "lapsed"}
    return Facts(
        now_us,
        dead=frozenset(p for p, at in known.items() if at.state == "dead"),
        lapsed=frozenset(lapsed),
        expired=frozenset(p for p, age_s in lapsed.items() if age_s >= terms.once_silence_s),
    )


def _judge(thread: _Thread, gone: Facts, glance: Glance) -> Verdict:
    """In doubt it is stalled: an older version's thread is rebuilt by who is woken, and if the last entry is of a
    time still to come, the clock was set back and nobody knows how long ago that was.
    """
    if thread.old:
        return Stalled(due=True)
    ahead_us = max(0, thread.at_us - gone.now_us)
    facts = replace(gone, now_us=gone.now_us + ahead_us, front=thread.front)
    stall_us, soon_us = (0, SOON_US) if glance.urgent else (glance.stall_us, 0)
    last_us = 0 if ahead_us else thread.at_us
    verdict = examine(thread.control, thread.session, facts, last_entry_us=last_us, stall_us=stall_us, soon_us=soon_us)
    return verdict if isinstance(verdict, Stalled) else Carried(verdict.until_us - ahead_us)


def _matters(thread: _Thread, verdict: Stalled, now_us: int, glance: Glance) -> bool:
    return verdict.due or verdict.soon or not glance.urgent or thread.at_us >= now_us - glance.recent_us


def _suspect(thread: _Thread, verdict: Stalled, gone: Facts, glance: Glance) -> Suspect:
    orphans = tuple(claim.nonce for claim in _claims(thread) if claim.presence in gone.dead)
    active = thread.control.active
    unclaimed = active is not None and any(call.state == "ready" for call in active.calls)
    suspect = thread.suspect("due" if verdict.due else "stalled")
    return replace(suspect, urgent=glance.urgent, orphans=orphans, unclaimed=unclaimed)
