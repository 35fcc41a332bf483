"""What a session's threads take together is known where an operation starts, and a raised budget is always noticed."""

import asyncio
from functools import partial

import pytest

from tests.integration.journal.asking import budget, look, spend
from tests.integration.journal.conftest import KEY, SESSION, WORKER, Played, Sql
from turnwright.journal.actions import Delay, ModelOp, Work
from turnwright.journal.budgets import OF_AN_ATTEMPT_MAX, Used
from turnwright.journal.commands import PauseThread, RequestModel, Respond
from turnwright.journal.control import OpenInteraction, SessionControl
from turnwright.journal.durations import SECOND_US
from turnwright.journal.facts import Facts
from turnwright.journal.ids import ThreadKey
from turnwright.journal.messages import Text, Usage
from turnwright.journal.plan import RUNS_WITHOUT_PROGRESS_MAX
from turnwright.journal.stalls import Carried, examine, has_work
from turnwright.journal.store import Journal
from turnwright.journal.store_admin import see_turn
from turnwright.journal.store_verify import rebuild, verify
from turnwright.journal.transact.sweeping import NOT_KNOWN, Glance, find_expired, find_stalled
from turnwright.journal.transact.thread_script import Outcome, Terms
from turnwright.journal.why import why
from turnwright.worker.recovery import Case, Recovery

SIDE = ThreadKey("t", None, "agent", "s", "side")
MARK = "SELECT tokens FROM spent ORDER BY thread_id"


async def proven(journal: Journal) -> bool:
    return not [finding async for proof in verify(journal) for finding in proof.findings]


async def overdue(played: Played) -> list[ThreadKey]:
    page = await played.journal.driver.read(partial(find_expired, 10))
    return [suspect.key for suspect in page.suspects]


async def open_questions(played: Played, key: ThreadKey) -> tuple[OpenInteraction, ...]:
    row = await played.journal.thread(key)
    assert row is not None
    return () if row.control.active is None else row.control.active.interactions


@pytest.fixture
async def waiting(played: Played) -> tuple[str, int]:
    """A turn on the side thread that waits since the main thread used up the session's tokens."""
    main = await played.submit("main")
    await spend(played, main, await played.claim(main), KEY, 60)
    await budget(played, "budget", tokens=50)
    side = await played.submit("side", SIDE)
    epoch = await played.claim(side, SIDE)
    assert await look(played, side, epoch, SIDE) == []  # the claim has asked already
    types = [entry.type for entry in await played.journal.entries(SIDE)]
    assert types[-2:] == ["interaction.requested", "turn.waiting"]
    return side, epoch


async def test_threads_are_counted_from_the_day_the_session_has_a_budget_until_it_is_lifted(
    played: Played, sql: Sql
) -> None:
    turn = await played.submit("main")
    await spend(played, turn, await played.claim(turn), KEY, 60)
    assert await sql(MARK) == []
    await budget(played, "budget", tokens=1_000)
    assert await sql(MARK) == [(60,)]
    side = await played.submit("side", SIDE)
    await spend(played, side, await played.claim(side, SIDE), SIDE, 7)
    assert await sql(MARK) == [(60,), (7,)]
    await budget(played, "more", tokens=2_000)
    assert await sql(MARK) == [(60,), (7,)]
    assert await proven(played.journal)
    await budget(played, "none")
    assert await sql(MARK) == []
    assert await proven(played.journal)


async def test_what_one_thread_used_stops_another(played: Played, waiting: tuple[str, int]) -> None:
    [question] = await open_questions(played, SIDE)
    assert (question.kind, question.scope) == ("budget", "session")
    refused = Respond(request_id="yes", turn_id=waiting[0], interaction_id=question.interaction_id, resolution="raise")
    assert (await played.journal.execute(SIDE, refused)).code == "still_over_budget"
    glance = Glance(stall_us=0, limit=10)
    stalled = await played.journal.driver.read(partial(find_stalled, 0, glance, Terms(presence=WORKER)))
    assert SIDE not in [suspect.key for suspect in stalled.suspects]
    assert await overdue(played) == []
    assert await proven(played.journal)


async def test_a_look_that_does_not_know_the_budget_finds_nothing_to_do(
    played: Played, waiting: tuple[str, int]
) -> None:
    row = await played.journal.thread(SIDE)
    assert row is not None
    facts = Facts(row.at_us + 60 * SECOND_US)
    verdict = examine(row.control, SessionControl(budget=NOT_KNOWN), facts, last_entry_us=row.at_us, stall_us=0)
    assert isinstance(verdict, Carried)
    assert not has_work(row.control, facts)


async def test_of_two_threads_that_start_at_once_only_what_fits_starts(played: Played) -> None:
    await budget(played, "budget", tokens=100)
    starts = []
    for key in (KEY, SIDE):
        turn = await played.submit("one", key)
        of = {"turn_id": turn, "epoch": await played.claim(turn, key), "step": 1}
        starts.append((key, RequestModel(**of, nonce="n", presence=WORKER, reserve=Used(tokens=100))))  # type: ignore[arg-type]
    outcomes = await asyncio.gather(*(played.journal.run(key, command) for key, command in starts))
    assert sorted(outcome.rejection is None for outcome in outcomes) == [False, True]
    assert await proven(played.journal)


async def claim_model(played: Played, key: ThreadKey, turn: str, epoch: int, reserve: int) -> Outcome:
    command = RequestModel(
        turn_id=turn, epoch=epoch, step=1, nonce=f"{turn} {reserve}", presence=WORKER, reserve=Used(tokens=reserve)
    )
    return await played.journal.run(key, command)


@pytest.fixture
async def held_up(played: Played) -> tuple[tuple[str, int], tuple[str, int]]:
    """A turn whose model call reserved all that is left, and one on the side thread that found nothing left."""
    await budget(played, "budget", tokens=1_000)
    turns = []
    for key in (KEY, SIDE):
        turn = await played.submit("one", key)
        turns.append((turn, await played.claim(turn, key)))
    assert (await claim_model(played, KEY, *turns[0], 1_000)).rejection is None
    seen = await claim_model(played, SIDE, *turns[1], 1_000)
    assert seen.rejection is not None
    assert isinstance(seen.action, Delay)
    assert (seen.action.why, seen.entries) == ("reserved", ())
    return turns[0], turns[1]


@pytest.mark.parametrize(("used", "asks"), [(10, False), (1_000, True)])
async def test_a_reservation_given_back_has_the_thread_looked_at_that_waited_for_it(
    played: Played, held_up: tuple[tuple[str, int], tuple[str, int]], used: int, asks: bool
) -> None:
    (main, epoch), (side, side_epoch) = held_up
    assert await overdue(played) == []
    assert await proven(played.journal)
    usage = Usage(requests=1, output_tokens=used)
    await played.answer(main, epoch, Text(text="done"), usage=usage)
    assert await overdue(played) == [SIDE]
    assert await proven(played.journal)
    seen = await look(played, side, side_epoch, SIDE)
    assert seen == (["interaction.requested", "turn.waiting"] if asks else [])
    assert await overdue(played) == []
    refused = (await claim_model(played, SIDE, side, side_epoch, 1)).rejection is not None
    assert refused is asks
    assert await proven(played.journal)


async def test_why_says_that_others_have_reserved_what_is_left(
    played: Played, held_up: tuple[tuple[str, int], tuple[str, int]]
) -> None:
    (main, epoch), (side, _) = held_up
    scene = await see_turn(played.journal, SIDE, side)
    assert scene is not None
    assert why(scene, ()).code == "reserved"
    await played.answer(main, epoch, Text(text="done"), usage=Usage(requests=1, output_tokens=1))
    scene = await see_turn(played.journal, SIDE, side)
    assert scene is not None
    assert why(scene, ()).code == "no_worker"


async def test_who_waits_for_a_reservation_is_no_stall_until_nobody_looks_any_more(
    played: Played, held_up: tuple[tuple[str, int], tuple[str, int]], sql: Sql
) -> None:
    async def stalled() -> list[ThreadKey]:
        glance = Glance(stall_us=0, limit=10)
        page = await played.journal.driver.read(partial(find_stalled, 0, glance, Terms(presence=WORKER)))
        return [suspect.key for suspect in page.suspects]

    assert await stalled() == []
    await sql("UPDATE spent SET waits_us = 1 WHERE waits_us > 0")
    assert await stalled() == [SIDE]


async def test_recovery_by_hand_leaves_who_waits_for_a_reservation_alone(
    played: Played, held_up: tuple[tuple[str, int], tuple[str, int]], sql: Sql
) -> None:
    assert [case async for case in Recovery(played.journal, None, stall_s=0).find()] == []
    await sql("UPDATE spent SET waits_us = waits_us * 2 WHERE waits_us > 0")  # the store's clock was set back
    [case] = [case async for case in Recovery(played.journal, None, stall_s=0).find()]
    assert isinstance(case, Case)
    assert case.suspect.key == SIDE


async def test_runs_that_find_a_reservation_in_their_way_are_no_sign_of_trouble(
    played: Played, held_up: tuple[tuple[str, int], tuple[str, int]]
) -> None:
    (main, epoch), (side, side_epoch) = held_up
    for _ in range(RUNS_WITHOUT_PROGRESS_MAX + 1):
        side_epoch = await played.claim(side, SIDE)
    await played.answer(main, epoch, Text(text="done"), usage=Usage(requests=1, output_tokens=1))
    assert (await claim_model(played, SIDE, side, side_epoch, 10)).rejection is None
    assert await proven(played.journal)


@pytest.mark.parametrize("bounds", [{"tokens": 5_000}, {}])
async def test_a_budget_that_is_raised_or_lifted_lets_those_go_on_who_wait_for_a_reservation(
    played: Played, held_up: tuple[tuple[str, int], tuple[str, int]], bounds: dict[str, int]
) -> None:
    await budget(played, "raise", **bounds)
    assert await overdue(played) == ([SIDE] if bounds else [])
    seen = await played.journal.dispatch(SIDE)
    assert isinstance(seen.action, Work)
    assert await overdue(played) == []
    assert await proven(played.journal)


async def test_a_budget_lifted_after_something_was_given_back_leaves_no_look_that_never_ends(
    played: Played, held_up: tuple[tuple[str, int], tuple[str, int]]
) -> None:
    (main, epoch), _ = held_up
    await played.answer(main, epoch, Text(text="done"), usage=Usage(requests=1, output_tokens=1))
    await budget(played, "lift")
    assert await overdue(played) == []
    assert await proven(played.journal)


@pytest.mark.parametrize("bounds", [{"tokens": 1_000}, {"steps": 1_000}, {}])
async def test_a_thread_that_waits_is_found_once_the_budget_is_raised_though_nobody_is_woken(
    played: Played, waiting: tuple[str, int], bounds: dict[str, int]
) -> None:
    await budget(played, "raise", **bounds)
    assert await overdue(played) == [SIDE]
    assert await proven(played.journal)
    seen = await played.journal.dispatch(SIDE)
    assert isinstance(seen.action, Work)
    assert seen.action.start == (ModelOp(1, 1),)
    assert await open_questions(played, SIDE) == ()
    assert await overdue(played) == []
    assert await proven(played.journal)


async def test_a_budget_raised_by_too_little_is_looked_at_once(played: Played, waiting: tuple[str, int]) -> None:
    await budget(played, "raise", tokens=55)
    assert await overdue(played) == [SIDE]
    await played.journal.dispatch(SIDE)
    assert len(await open_questions(played, SIDE)) == 1
    assert await overdue(played) == []
    await budget(played, "again", tokens=56)
    await played.execute(SIDE, PauseThread(request_id="pause"))
    assert await overdue(played) == []
    assert await proven(played.journal)


async def test_a_count_that_differs_is_found_and_written_anew(
    played: Played, waiting: tuple[str, int], sql: Sql
) -> None:
    await sql("UPDATE spent SET tokens = 1")
    findings = [finding async for proof in verify(played.journal) for finding in proof.findings]
    assert {finding.check for finding in findings} == {"spent"}
    assert not [rebuilt.kept async for rebuilt in rebuild(played.journal) if rebuilt.kept]
    assert await proven(played.journal)
    assert sum(tokens for (tokens,) in await sql(MARK)) == 60


async def test_an_answer_still_counts_when_its_reserve_was_too_small(played: Played, sql: Sql) -> None:
    await budget(played, "budget", tokens=10)
    turn = await played.submit("one")
    epoch = await played.claim(turn)
    await played.ask(turn, epoch)
    await played.answer(turn, epoch, Text(text="long"), usage=Usage(requests=1, output_tokens=500))
    assert await sql(MARK) == [(500,)]
    session = await played.journal.session(SESSION)
    assert session is not None
    assert await proven(played.journal)


@pytest.mark.parametrize(("counted", "kept"), [(2**70, OF_AN_ATTEMPT_MAX), (-5, 0)])
async def test_what_a_provider_counts_is_kept_as_far_as_a_session_can_count(
    played: Played, sql: Sql, counted: int, kept: int
) -> None:
    await budget(played, "budget", cost_microusd=10)
    for key in (KEY, SIDE):
        turn = await played.submit("one", key)
        epoch = await played.claim(turn, key)
        await played.ask(turn, epoch, key)
        usage = Usage(requests=1, input_tokens=counted, output_tokens=1)
        await played.answer(turn, epoch, Text(text="done"), key=key, usage=usage)
    assert await sql(MARK) == [(kept,), (kept,)]
    assert await proven(played.journal)
