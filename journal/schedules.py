"""Schedules: turns that are submitted again and again, as a session's log says.

Rule: a schedule is a fact of the journal and is never changed, only paused, resumed and deleted; Temporal's own one is
made from it, again whenever it is lost. What becomes of a tick (its turn, or why there is none) is decided under the
thread's lock and stands in the thread's log.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Annotated, Literal
from zoneinfo import ZoneInfo

from pydantic import BeforeValidator

from turnwright.journal.budgets import Budget
from turnwright.journal.cron import checked_cron
from turnwright.journal.errors import InvalidInput
from turnwright.journal.ids import MAIN_THREAD, SessionKey, ThreadKey, checked_part
from turnwright.journal.messages import Frozen, Message, media_of, user

Overlap = Literal["skip", "queue", "interrupt"]
ScheduleState = Literal["active", "paused", "ended"]
NAME_CHARACTERS_MAX = 60
CRONS_MAX = 10
# A turn is many times this; cron's own least is a minute. Schedules that were made before keep theirs.
EVERY_S_MIN = 10
EVERY_S_MAX = 366 * 86_400
JITTER_S_MAX = 86_400
CATCH_UP_S, CATCH_UP_S_MIN, CATCH_UP_S_MAX = 3_600, 10, 366 * 86_400
UTC_ZONE = "UTC"


class Times(Frozen):
    """When: `cron` expressions in a time zone, or `every_s` seconds (at `offset_s` behind a multiple since 1970).

    `start_at` and `end_at` are ISO times with a zone. Each tick comes up to `jitter_s` later. `catch_up_s`: one that
    could not be begun for so long is let go.
    """

    cron: tuple[str, ...] = ()
    every_s: int | None = None
    offset_s: int = 0
    timezone: str = UTC_ZONE
    start_at: str | None = None
    end_at: str | None = None
    jitter_s: int = 0
    catch_up_s: int = CATCH_UP_S


def _said(given: object) -> object:
    return user(given) if isinstance(given, str) else given


class Definition(Frozen):
    """What a schedule is: when, and the turn to submit then. `overlap`: what a tick does while the thread has a turn.

    `skip`: nothing. `queue`: it comes behind it. `interrupt`: the turn that is active is cancelled.
    """

    name: str
    agent: str
    thread: str = MAIN_THREAD
    input: Annotated[Message, BeforeValidator(_said)]
    times: Times
    overlap: Overlap = "skip"
    budget: Budget | None = None


@dataclass(frozen=True, slots=True)
class Tick:
    """What became of a time that came: its turn, or the `code` and `reason` why there is none.

    `due_us` is the time by the schedule, `at_us` when it was decided. `by_hand`: somebody triggered it.
    """

    due_us: int
    at_us: int
    turn_id: str | None = None
    code: str | None = None
    reason: str | None = None
    by_hand: bool = False


@dataclass(frozen=True, slots=True)
class Schedule:
    """A schedule as it is now. Times are microseconds since 1970 UTC.

    `definition` None: it was erased, so the schedule does nothing. `next_us`: when it comes next, as Temporal said at
    `looked_us` (None: it was not told yet); while it is paused, nothing. `error`: why Temporal does not take it.
    `last`: what became of the newest ticks, the newest first.
    """

    session: SessionKey
    name: str
    generation: int
    state: ScheduleState
    principal: str
    created_us: int
    definition: Definition | None
    next_us: tuple[int, ...] = ()
    looked_us: int | None = None
    error: str | None = None
    last: tuple[Tick, ...] = ()

    @property
    def thread(self) -> ThreadKey | None:
        """The thread its turns go to."""
        made = self.definition
        key = self.session
        return None if made is None else ThreadKey(key.tenant, key.user, made.agent, key.session, made.thread)


def checked_schedule(given: Definition) -> Definition:
    """The definition, if it can be one: names, input, times.

    Raises:
        InvalidInput: says what is wrong, before anything is committed.
    """
    checked_part("a schedule's name", given.name)
    if len(given.name) > NAME_CHARACTERS_MAX:
        raise InvalidInput(f"a schedule's name has at most {NAME_CHARACTERS_MAX} characters")
    checked_part("agent", given.agent)
    checked_part("thread", given.thread)
    if any(media_of(given.input)):
        raise InvalidInput("a schedule's input holds no stored file, which may be gone when it comes; give it by URL")
    return given.model_copy(update={"times": _checked_times(given.times)})


def tick_request(name: str, generation: int, due_us: int) -> str:
    """The request id of a tick: however often it is tried, it is one turn."""
    return f"schedule:{name}:{generation}:{datetime.fromtimestamp(due_us // 1_000_000, UTC):%Y-%m-%dT%H:%M:%SZ}"


def _checked_times(times: Times) -> Times:
    if bool(times.cron) == (times.every_s is not None):
        raise InvalidInput("a schedule comes by cron expressions or every so many seconds: say one of the two")
    if len(times.cron) > CRONS_MAX:
        raise InvalidInput(f"a schedule has at most {CRONS_MAX} cron expressions")
    every_s = EVERY_S_MIN if times.every_s is None else times.every_s
    _within("the interval (every)", every_s, EVERY_S_MIN, EVERY_S_MAX)
    _within("the offset", times.offset_s, 0, 0 if times.every_s is None else every_s - 1)
    _within("the jitter", times.jitter_s, 0, JITTER_S_MAX)
    _within("the catch-up window", times.catch_up_s, CATCH_UP_S_MIN, CATCH_UP_S_MAX)
    _check_zone(times.timezone)
    begin, end = _time("start", times.start_at), _time("end", times.end_at)
    if begin is not None and end is not None and end <= begin:
        raise InvalidInput("a schedule ends after it has started")
    return times.model_copy(
        update={"cron": tuple(map(checked_cron, times.cron)), "start_at": _iso(begin), "end_at": _iso(end)}
    )


def _within(what: str, value: int, least: int, most: int) -> None:
    if not least <= value <= most:
        raise InvalidInput(f"{what} is from {least:,} to {most:,} s, not {value}")


def _check_zone(name: str) -> None:
    if name == UTC_ZONE:
        return
    try:
        ZoneInfo(name)
    except (LookupError, ValueError, OSError):  # a name that is none can be a folder, or lead out of the zones
        raise InvalidInput(f"there is no time zone {name!r:.60}; one looks like Europe/Berlin") from None


def _time(what: str, text: str | None) -> datetime | None:
    if text is None:
        return None
    try:
        time = datetime.fromisoformat(text)
    except ValueError:
        raise InvalidInput(f"the {what} is an ISO time such as 2027-03-01T09:00:00+01:00, not {text!r:.60}") from None
    if time.tzinfo is None:
        raise InvalidInput(f"the {what} needs a zone, such as {time.isoformat()}Z or {time.isoformat()}+01:00")
    try:
        return time.astimezone(UTC)
    except OverflowError:
        raise InvalidInput(f"the {what} is too far away: {text!r:.60}") from None


def _iso(time: datetime | None) -> str | None:
    return None if time is None else time.isoformat()
