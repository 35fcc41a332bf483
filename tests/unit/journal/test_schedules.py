"""Schedules: what may be one, what their commands record, and what becomes of a tick."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.unit.journal.scene import Scene, must, refused
from tests.unit.journal.thread_machine import ThreadMachine
from turnwright.journal.commands import (
    CloseSession,
    CreateSchedule,
    CreateSession,
    DeleteSchedule,
    LoggedCommand,
    PauseSchedule,
    Rejection,
    ResumeSchedule,
    TakeTick,
)
from turnwright.journal.control import SessionControl
from turnwright.journal.cron import NAMED, checked_cron, cron_values
from turnwright.journal.decide.schedules import IF_BUSY, SCHEDULES_OF_A_SESSION_MAX
from turnwright.journal.durations import SECOND_US
from turnwright.journal.entries import ScheduleTicked
from turnwright.journal.errors import InvalidInput
from turnwright.journal.evolve_session import evolve_session
from turnwright.journal.messages import Media, Message, user
from turnwright.journal.schedules import Definition, Overlap, Times, checked_schedule, tick_request

NAME = "news"
WRONG: list[tuple[dict[str, Any], str]] = [
    ({}, "one of the two"),
    ({"cron": ("0 9 * * *",), "every_s": 60}, "one of the two"),
    ({"cron": ("0 9 * * *",) * 11}, "at most 10"),
    ({"every_s": 9}, "from 10 to"),
    ({"every_s": 60, "offset_s": 60}, "the offset is from 0 to 59"),
    ({"every_s": 60, "jitter_s": -1}, "the jitter"),
    ({"every_s": 60, "catch_up_s": 5}, "the catch-up window is from 10"),
    ({"every_s": 60, "timezone": "Europe/Berlln"}, "no time zone 'Europe/Berlln'"),
    ({"every_s": 60, "timezone": "../../etc/passwd"}, "no time zone"),
    ({"every_s": 60, "start_at": "tomorrow"}, "the start is an ISO time"),
    ({"every_s": 60, "end_at": "2027-03-01T09:00:00"}, "the end needs a zone"),
    (
        {"every_s": 60, "start_at": "2027-01-01"},
        r"needs a zone, such as 2027-01-01T00:00:00Z or 2027-01-01T00:00:00\+01",
    ),
    ({"every_s": 60, "start_at": "2027-03-01T09:00:00Z", "end_at": "2027-03-01T10:00:00+01:00"}, "ends after"),
    ({"cron": ("0 9 * *",)}, "five fields"),
    ({"cron": ("@every 5m",)}, "five fields"),
    ({"cron": ("61 * * * *",)}, "its minute is from 0 to 59, not 61"),
    ({"cron": ("0 0 30 feb *",)}, "has a day 30"),
    ({"cron": ("0 9 * * fri-mon",)}, "write it as two ranges"),
    ({"cron": ("*/0 * * * *",)}, "the step 0"),
    ({"cron": ("a,,b * * * *",)}, "its minute"),
]


def definition(name: str = NAME, *, overlap: Overlap = "skip", **times: Any) -> Definition:  # noqa: ANN401 - of `Times`
    return Definition(name=name, agent="helper", input=user("the news"), times=Times(**times), overlap=overlap)


def create(name: str = NAME, overlap: Overlap = "skip") -> CreateSchedule:
    return CreateSchedule(request_id=f"create {name}", definition=definition(name, overlap=overlap, every_s=60))


def on(scene: Scene, *commands: LoggedCommand) -> Rejection | None:
    for n, command in enumerate(commands):
        rejected = scene.machine.run_session(replace(command, request_id=f"s{n}{command.request_id}"))
        if rejected is not None:
            return rejected
    return None


def tick(scene: Scene, *, due_us: int = 0, overlap: Overlap = "skip", generation: int | None = None) -> TakeTick:
    control = scene.machine.session.schedules.get(NAME)
    known = 0 if control is None else control.generation
    return TakeTick(
        request_id=f"tick {scene.next_id('tick')}",
        turn_id=scene.next_id("t"),
        input=user("the news"),
        if_busy=IF_BUSY[overlap],
        name=NAME,
        generation=known if generation is None else generation,
        catch_up_s=60,
        due_us=due_us,
    )


def ticked(scene: Scene) -> list[tuple[str | None, str | None]]:
    """The turn and the code of each tick there was."""
    entries = [entry for entry in scene.machine.entries if isinstance(entry.payload, ScheduleTicked)]
    return [(entry.turn_id, entry.payload.code) for entry in entries if isinstance(entry.payload, ScheduleTicked)]


@pytest.mark.parametrize(("times", "why"), WRONG, ids=[why for _, why in WRONG])
def test_what_cannot_be_a_schedule_is_refused_with_what_is_wrong(times: dict[str, Any], why: str) -> None:
    with pytest.raises(InvalidInput, match=why):
        checked_schedule(definition(**times))


def test_its_names_and_its_input_are_looked_at_too() -> None:
    good = definition(every_s=60)
    blob = Message(role="user", blocks=(Media(mime="image/png", blob="0" * 64),))
    for wrong in ({"name": ""}, {"name": "x" * 61}, {"agent": ""}, {"thread": "a\nb"}, {"input": blob}):
        with pytest.raises(InvalidInput):
            checked_schedule(good.model_copy(update=wrong))


@pytest.mark.parametrize(
    "text", ["* * * * *", "*/5 8-18/2 1,15 jan-MAR mon,wed-fri", "0 0 29 feb *", "0 0 * * 7", "5/10 * * * *", "@Daily"]
)
def test_a_cron_expression_as_people_write_them_is_taken(text: str) -> None:
    assert checked_cron(f"  {text} ").lower() == text.lower()


@given(st.lists(st.text("0123456789*/,-ajnmo@ \t\u0662", max_size=6), max_size=6).map(" ".join))
def test_whatever_is_given_as_cron_is_taken_or_refused_in_words(text: str) -> None:
    try:
        assert checked_cron(checked_cron(text)) == checked_cron(text)
    except InvalidInput as error:
        assert "cron" in str(error)  # noqa: PT017 - either way is right


def test_a_cron_expression_comes_to_numbers_whichever_way_it_is_written() -> None:
    nine = (frozenset({0}), frozenset({9}), frozenset(range(1, 32)), frozenset(range(1, 13)))
    assert cron_values("0 9 * * mon-fri") == cron_values("0 9 1-31 jan-12 1,2,3-5") == (*nine, frozenset(range(1, 6)))
    assert cron_values("@weekly") == cron_values("0 0 * * sun") == cron_values("0 0 */1 * 7")
    assert cron_values("50/5 0 1 1 6-7")[::4] == (frozenset({50, 55}), frozenset({6, 0}))
    assert all(cron_values(name) == cron_values(text) for name, text in NAMED.items())


def test_a_schedule_is_made_paused_resumed_and_deleted_and_its_name_used_again() -> None:
    scene = Scene()
    assert on(scene, create()) is None
    first = scene.machine.session.schedules[NAME]
    assert (first.paused, first.changes) == (False, 0)
    assert on(scene, PauseSchedule(request_id="p", name=NAME)) is None
    assert scene.machine.session.schedules[NAME].paused
    assert on(scene, ResumeSchedule(request_id="r", name=NAME)) is None
    assert (scene.machine.session.schedules[NAME].paused, scene.machine.session.schedules[NAME].changes) == (False, 2)
    assert on(scene, DeleteSchedule(request_id="d", name=NAME), create()) is None
    assert scene.machine.session.schedules[NAME].generation > first.generation


def test_what_cannot_be_done_to_a_schedule_is_rejected_with_a_code() -> None:
    scene = Scene()
    pause, resume = PauseSchedule(request_id="p", name=NAME), ResumeSchedule(request_id="r", name=NAME)

    def code(*commands: LoggedCommand) -> str | None:
        rejected = on(scene, *commands)
        return None if rejected is None else rejected.code

    assert [code(one) for one in (pause, resume, DeleteSchedule(request_id="d", name=NAME))] == ["unknown_schedule"] * 3
    assert [code(one) for one in (create(), create(), resume, pause, pause)] == [
        None, "schedule_exists", "not_paused", None, "already_paused",
    ]  # fmt: skip
    for n in range(1, SCHEDULES_OF_A_SESSION_MAX):
        assert code(create(f"news {n}")) is None
    assert code(create("one more")) == "too_many_schedules"
    assert code(CloseSession(request_id="c"), create("closed")) == "session_closed"
    assert scene.machine.session.schedules == {}


def test_a_tick_is_a_turn_and_says_so() -> None:
    scene = Scene()
    on(scene, create())
    command = tick(scene, due_us=scene.machine.clock_us)
    assert must(scene.run(command)).types == ["turn.queued", "schedule.ticked"]
    assert ticked(scene) == [(command.turn_id, None)]


@pytest.mark.parametrize(
    ("overlap", "expected", "phase"),
    [
        ("skip", (False, "busy"), "running"),
        ("queue", (True, None), "running"),
        ("interrupt", (True, None), "cancelled"),
    ],
)
def test_what_a_tick_does_while_the_thread_has_a_turn_is_as_the_schedule_says(
    overlap: Overlap, expected: tuple[bool, str | None], phase: str
) -> None:
    scene = Scene()
    on(scene, create(overlap=overlap))
    must(scene.submit())
    must(scene.claim())
    running = scene.turn
    must(scene.run(tick(scene, due_us=scene.machine.clock_us, overlap=overlap)))
    [(turn, code)] = ticked(scene)
    assert (turn is not None, code) == expected
    assert scene.machine.turns[running].phase == phase


def test_a_tick_of_a_paused_schedule_or_one_that_comes_too_late_gives_no_turn_but_one_by_hand_does() -> None:
    scene = Scene()
    on(scene, create())
    now_us = scene.machine.clock_us
    must(scene.run(tick(scene, due_us=now_us - 61 * SECOND_US)))
    on(scene, PauseSchedule(request_id="p", name=NAME))
    must(scene.run(tick(scene, due_us=now_us)))
    must(scene.run(tick(scene)))
    (_, late), (_, paused), (by_hand, code) = ticked(scene)
    assert (late, paused, code) == ("too_late", "schedule_paused", None)
    assert by_hand is not None


def test_a_time_that_came_while_it_was_paused_gives_no_turn_however_late_somebody_brings_it() -> None:
    scene = Scene()
    on(scene, create(overlap="queue"))
    for command, pass_us in (
        (PauseSchedule(request_id="p", name=NAME), 10),
        (ResumeSchedule(request_id="r", name=NAME), 10),
    ):
        scene.machine.clock_us += pass_us * SECOND_US
        on(scene, command)
    scene.machine.clock_us += 5 * SECOND_US
    now_us = scene.machine.clock_us
    for ago_s in (16, 10, 1):
        must(scene.run(tick(scene, due_us=now_us - ago_s * SECOND_US, overlap="queue")))
    assert [code for _, code in ticked(scene)] == [None, "schedule_paused", None]


def test_a_tick_of_a_schedule_that_is_no_more_leaves_no_trace() -> None:
    scene = Scene()
    assert refused(scene.run(tick(scene))) == "unknown_schedule"
    on(scene, create())
    old = tick(scene)
    on(scene, DeleteSchedule(request_id="d", name=NAME), create())
    assert refused(scene.run(old)) == "unknown_schedule"
    assert ticked(scene) == []


def test_the_request_of_a_tick_is_made_of_the_schedule_and_its_time() -> None:
    at_us = 1_800_000_000 * SECOND_US
    assert tick_request(NAME, 3, at_us) == tick_request(NAME, 3, at_us + 5)
    assert len({tick_request(NAME, g, at_us + s * SECOND_US) for g in (3, 4) for s in (0, 1)}) == 4


@given(st.lists(st.sampled_from(["create", "pause", "resume", "delete", "close"]), max_size=12))
def test_a_session_s_schedules_are_a_fold_of_its_log(words: Sequence[str]) -> None:
    machine = ThreadMachine()
    machine.run_session(CreateSession(request_id="begin"))
    commands: dict[str, LoggedCommand] = {
        "create": create(),
        "pause": PauseSchedule(request_id="p", name=NAME),
        "resume": ResumeSchedule(request_id="r", name=NAME),
        "delete": DeleteSchedule(request_id="d", name=NAME),
        "close": CloseSession(request_id="c"),
    }
    for n, word in enumerate(words):
        machine.run_session(replace(commands[word], request_id=f"r{n}"))
    folded = SessionControl()
    for entry in machine.session_entries:
        folded = evolve_session(folded, entry)
    assert folded == machine.session
    assert not (folded.closed and folded.schedules)
