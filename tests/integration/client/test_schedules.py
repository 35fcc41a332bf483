"""Schedules, as a client and a terminal have them, on a journal and through a gateway."""

from __future__ import annotations

import pytest

from tests.integration.client.hands import AGENT
from tests.integration.client.terminal import Run, lines, refused, shown
from turnwright.client import Budget, Client, CommandRejected, NotFound, Session
from turnwright.journal.errors import InvalidInput

OF_SESSION = ("--session", "s", "--user", "ann")


async def test_a_schedule_is_made_shown_held_triggered_and_deleted(session: Session) -> None:
    receipt = await session.create_schedule(
        "news", "the news", agent=AGENT, cron="0 9 * * mon-fri", timezone="Europe/Berlin", budget=Budget(steps=3)
    )
    assert receipt.status == "accepted"
    [listed] = await session.schedules()
    assert listed == await session.schedule("news")
    assert (listed.state, listed.next_us, listed.last) == ("active", (), ())
    assert listed.definition is not None
    assert (listed.definition.input.text, listed.definition.times.timezone) == ("the news", "Europe/Berlin")
    assert listed.definition.budget == Budget(steps=3)
    await session.pause_schedule("news", reason="holidays")
    assert (await session.schedule("news")).state == "paused"
    await session.resume_schedule("news")
    triggered = await session.trigger_schedule("news", request_id="now")
    assert triggered.turn_id is not None
    view = await session.thread(AGENT).turn(triggered.turn_id).status()
    assert view.status == "queued"
    again = await session.trigger_schedule("news")
    assert (again.turn_id, again.code) == (None, "busy")
    assert [tick.code for tick in (await session.schedule("news")).last] == ["busy", None]
    await session.delete_schedule("news")
    assert await session.schedules() == ()


async def test_what_cannot_be_is_refused_with_what_is_wrong(client: Client, session: Session) -> None:
    for wrong, why in (
        ({"cron": "0 25 * * *"}, "its hour is from 0 to 23, not 25"),
        ({"cron": "0 9 * * *", "timezone": "Berlin"}, "no time zone 'Berlin'"),
        ({"every_s": 9}, "from 10 to"),
        ({}, "say one of the two"),
    ):
        with pytest.raises(InvalidInput, match=why):
            await session.create_schedule("news", "the news", agent=AGENT, **wrong)
    await session.create_schedule("news", "the news", agent=AGENT, every_s=60, request_id="one")
    assert (await session.create_schedule("news", "the news", agent=AGENT, every_s=60, request_id="one")).duplicate
    with pytest.raises(CommandRejected) as twice:
        await session.create_schedule("news", "other news", agent=AGENT, every_s=60)
    assert twice.value.code == "schedule_exists"
    with pytest.raises(NotFound):
        await session.schedule("none")
    with pytest.raises(NotFound):
        await client.session("ann", "none").schedules()


async def test_the_terminal_makes_and_shows_them(run: Run, session: Session) -> None:
    every = ("--every", "15m", "--offset", "30s", "--jitter", "1m", "--overlap", "queue", "--budget-steps", "3")
    assert "in the journal" in shown(await run("schedule", "create", "pulse", "look", *OF_SESSION, "-a", AGENT, *every))
    cron = ("--cron", "0 9 * * *", "--timezone", "Europe/Berlin", "--start", "2031-01-01T00:00:00Z")
    shown(await run("schedule", "create", "news", "the news", *OF_SESSION, "-a", AGENT, *cron))
    table = shown(await run("schedule", "list", *OF_SESSION))
    assert [word in table for word in ("pulse", "every 900 s", "0 9 * * * (Europe/Berlin)", "not told")] == [True] * 4
    [listed] = lines(await run("schedule", "list", *OF_SESSION, "--json"))
    assert [one["name"] for one in listed["schedules"]] == ["pulse", "news"]
    assert listed["schedules"][0]["definition"]["times"] == {"every_s": 900, "offset_s": 30, "jitter_s": 60}
    shown(await run("schedule", "pause", "news", *OF_SESSION, "--reason", "holidays"))
    told = shown(await run("schedule", "trigger", "news", *OF_SESSION))
    assert "accepted as turn t-" in told
    assert "no turn, busy" in shown(await run("schedule", "trigger", "news", *OF_SESSION))
    text = shown(await run("schedule", "show", "news", *OF_SESSION))
    assert [word in text for word in ("paused", "the news", "when it is resumed", "no turn, busy", "by hand")] == [
        True
    ] * 5
    shown(await run("schedule", "resume", "news", *OF_SESSION))
    shown(await run("schedule", "delete", "news", *OF_SESSION))
    assert [one.name for one in await session.schedules()] == ["pulse"]


async def test_the_terminal_says_what_is_wrong(run: Run, session: Session) -> None:
    create = ("schedule", "create", "news", "the news", *OF_SESSION, "-a", AGENT)
    assert "a time looks like" in refused(await run(*create, "--every", "soon"), 2)
    assert "five fields" in refused(await run(*create, "--cron", "9 o'clock"), 2)
    assert "no schedule none" in refused(await run("schedule", "show", "none", *OF_SESSION))
    assert "no schedule of that name" in refused(await run("schedule", "pause", "none", *OF_SESSION))
