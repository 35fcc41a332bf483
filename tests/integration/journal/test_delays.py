"""What is measured of a journal while it is used: how late followers read, and for how long operations ran."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

import pytest

from tests.integration.journal.conftest import KEY, SESSION, Played
from tests.integration.journal.test_deltas import delta, hear, say, speaking
from turnwright.client.gateway.feeds import Feeds
from turnwright.journal import delays
from turnwright.journal.commands import InterruptModel
from turnwright.journal.driver import Driver
from turnwright.journal.messages import Text
from turnwright.journal.transact.appending import Appended


@pytest.fixture
def told(played: Played) -> list[tuple[str, float]]:
    """The delays that were told."""
    found: list[tuple[str, float]] = []
    played.journal.delays.observers.append(lambda what, seconds: found.append((what, seconds)))
    return found


async def test_words_are_late_only_for_who_had_heard_what_came_before_them(
    played: Played, told: list[tuple[str, float]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(delays, "LOOK_S", 0)
    turn, _ = await speaking(played)
    await say(played, 1, delta(turn, "It "))
    first = await hear(played)
    assert (await hear(played, first.place)).deltas == ()
    assert told == []
    await say(played, 2, delta(turn, "is "))
    second = await hear(played, first.place)
    assert [what for what, _ in told] == ["deltas"]
    await say(played, 1, delta(turn, "Again", ordinal=2))
    await hear(played, second.place)
    assert len(told) == 1, "another attempt may have spoken before anybody listened"
    assert all(seconds >= 0 for _, seconds in told)


async def test_of_many_reads_in_a_second_one_is_looked_at(played: Played, told: list[tuple[str, float]]) -> None:
    turn, _ = await speaking(played)
    await say(played, 1, delta(turn, "It "))
    place = (await hear(played)).place
    for n in range(2, 5):
        await say(played, n, delta(turn, "is "))
        place = (await hear(played, place)).place
    assert len(told) == 1


async def test_entries_are_late_by_what_their_follower_needed_to_read_them(
    played: Played, told: list[tuple[str, float]]
) -> None:
    await played.submit("first")
    head = (await played.journal.timeline(SESSION))[-1].entry.position
    async with Feeds(played.journal).open(SESSION, head) as feed, asyncio.timeout(30):
        assert told == []
        await played.submit("second")
        await feed.news(head)
    assert [what for what, _ in told] == ["entries"]


async def test_the_time_that_operations_ran_is_told_with_what_ended_them(played: Played, driver: Driver) -> None:
    seen: list[Appended] = []

    def observe(notes: Sequence[object], _: float) -> None:
        seen.extend(note for note in notes if isinstance(note, Appended))

    driver.observers.append(observe)
    turn, epoch = await speaking(played)
    assert [note.worked_us for note in seen] == [0 for _ in seen]
    await played.run(KEY, InterruptModel(turn_id=turn, epoch=epoch, step=1, ordinal=1, reason="drained"))
    epoch = await played.claim(turn)
    await played.ask(turn, epoch)
    await played.answer(turn, epoch, Text(text="done"), ordinal=2)
    row = await played.journal.thread(KEY)
    assert row is not None
    assert row.control.used.wall_us == sum(note.worked_us for note in seen) > 0
    assert len([note for note in seen if note.worked_us]) == 2
