"""Whoever looks at what stands still is told who stopped it, when and why."""

import re

import pytest

from tests.integration.client.hands import AGENT, Hands
from tests.integration.client.terminal import Run, lines, shown
from turnwright.client import Client, Session, Thread, Turn, TurnCancelled
from turnwright.journal.commands import RespondModel
from turnwright.journal.driver import Driver
from turnwright.journal.messages import Text, Usage
from turnwright.journal.store import Journal
from turnwright.journal.transact.thread_script import Terms

WHY = "stocktaking"
Handle = Session | Thread | Turn


@pytest.fixture
async def turn(session: Session) -> Turn:
    return await session.submit("one", agent=AGENT, principal="cyd", reason="asked by mail")


def levels(session: Session, turn: Turn) -> dict[str, Handle]:
    return {"turn": turn, "thread": session.thread(AGENT), "session": session}


@pytest.mark.parametrize("level", ["turn", "thread", "session"])
async def test_a_pause_names_who_set_it_and_why_until_it_is_lifted(
    run: Run, session: Session, turn: Turn, level: str
) -> None:
    handle = levels(session, turn)[level]
    await handle.pause(principal="bob", reason=WHY)
    view = await turn.status()
    act = view.held_by[level]  # type: ignore[index]
    assert (act.principal, act.reason, list(view.held_by)) == ("bob", WHY, [level])
    assert re.search(
        f"pause is set, by bob .* ago, because: {WHY} .`turnwright {level} resume", (await turn.why()).text
    )
    of = ("-u", "ann")
    looks = {"turn": ("show", turn.id), "thread": ("show", "s", AGENT, *of), "session": ("show", "s", *of)}
    assert re.search(f"by bob .*, because: {WHY}", shown(await run(level, *looks[level])))
    [told] = lines(await run(level, *looks[level], "--json"))
    assert (told["held_by"][level]["principal"], told["held_by"][level]["reason"]) == ("bob", WHY)
    await handle.resume()
    assert (await turn.status()).held_by == {}


async def test_a_pause_that_took_effect_later_still_names_who_asked_for_it(turn: Turn, hands: Hands) -> None:
    await hands.ask_model(turn)
    await turn.pause(principal="bob", reason=WHY)
    assert (await turn.status()).status == "pausing"
    await hands.answer_with_call(turn)
    view = await turn.status()
    assert (view.status, view.pause) == ("paused", "effective")
    assert (view.held_by["turn"].principal, view.held_by["turn"].reason) == ("bob", WHY)


@pytest.mark.parametrize("running", [False, True])
@pytest.mark.parametrize("level", ["turn", "thread", "session"])
async def test_a_cancelled_turn_names_who_cancelled_it_how_and_why(
    session: Session, turn: Turn, hands: Hands, level: str, *, running: bool
) -> None:
    if running:
        await hands.ask_model(turn)
    handle = levels(session, turn)[level]
    await handle.cancel(principal="bob", reason=WHY)
    await hands.journal.dispatch(turn.key)
    if running:
        act = (await turn.status()).cancelled_by
        assert act is not None
        assert (act.principal, act.reason) == ("bob", WHY)
        assert "by bob" in (await turn.why()).text
        await hands.interrupt_model(turn)
    view = await turn.status()
    assert (view.status, view.code) == ("cancelled", f"cancelled_by_{level}")
    assert view.cancelled_by is not None
    assert (view.cancelled_by.principal, view.cancelled_by.reason) == ("bob", WHY)
    how = {"turn": "a command to the turn itself", "thread": "everything on its thread", "session": "in its session"}
    with pytest.raises(TurnCancelled, match=f"{how[level]}, by bob, because: {WHY}") as stopped:
        await turn.result()
    assert stopped.value.act == view.cancelled_by
    assert f"{how[level]}, by bob" in (await turn.why()).text


async def test_a_cancelled_turns_note_about_a_call_is_nobodys_reason(
    run: Run, session: Session, turn: Turn, hands: Hands, driver: Driver
) -> None:
    hold = await driver.hold_presence("w-mortal", {}, lease_s=60)
    mortal = Hands(Journal(driver, Terms(presence="w-mortal")), "w-mortal")
    await mortal.call_tool(turn)
    await hold.release()
    await hands.claim(turn)
    await turn.cancel(principal="bob", reason=WHY)
    await hands.journal.dispatch(turn.key)
    view = await turn.status()
    note = "whether it had its effect is unknown of: ledger"
    assert view.cancelled_by is not None
    assert (view.message, view.cancelled_by.reason, view.row.effects_unknown) == (WHY, WHY, note)
    assert f"because: {WHY} (cancelled_by_turn); {note}." in (await turn.why()).text
    assert f"{note}  [bob: {WHY}]" in shown(await run("journal", "tail", "s", "-u", "ann"))
    with pytest.raises(TurnCancelled, match=note) as stopped:
        await turn.result()
    assert stopped.value.effects_unknown == note


async def test_a_turn_is_shown_with_its_task_its_work_and_its_answer(
    run: Run, client: Client, turn: Turn, hands: Hands
) -> None:
    call_id = await hands.call_tool(turn)
    await turn.steer("and quickly")
    text = shown(await run("turn", "show", turn.id))
    for part in ("one", "and quickly", "cyd, because: asked by mail", call_id, "ledger has run on w-hands", "1 step"):
        assert part in text, part
    await hands.finish_tool(turn, call_id)
    await hands.ask_model(turn, 2)
    await hands.answer(turn, "all done", step=2)
    text = shown(await run("turn", "show", turn.id))
    assert "2 steps, 2 model attempts, 1 tool attempt" in text
    assert "10 tokens in, 10 out" in text
    assert "all done" in text
    [told] = lines(await run("turn", "show", turn.id, "--json"))
    assert told["input"]["blocks"] == [{"type": "text", "text": "one"}]
    assert told["answer"]["blocks"] == [{"type": "text", "text": "all done"}]
    assert (told["submitted_by"]["principal"], told["submitted_by"]["reason"]) == ("cyd", "asked by mail")
    report = await turn.report()
    assert (report.steps, report.model_attempts, report.tool_attempts, report.usage.requests) == (2, 2, 1, 2)
    assert (await client.turn(turn.id)).id == report.view.turn_id


async def test_what_a_model_answers_when_another_attempt_has_answered_is_shown_as_late(
    run: Run, turn: Turn, hands: Hands, driver: Driver
) -> None:
    hold = await driver.hold_presence("w-mortal", {}, lease_s=60)
    mortal = Hands(Journal(driver, Terms(presence="w-mortal")), "w-mortal")
    await mortal.ask_model(turn)
    await hold.release()
    await hands.claim(turn)
    await hands.ask_model(turn)
    await hands.answer(turn, "from the second")
    said = (Text(text="from the first"),)
    late = RespondModel(turn_id=turn.id, epoch=1, step=1, ordinal=1, blocks=said, usage=Usage(requests=1))
    await mortal.journal.run(turn.key, late)
    text = shown(await run("turn", "show", turn.id))
    assert "not applied: attempt 1 responded: from the first" in text
    assert [entry.type for entry in (await turn.report()).late] == ["model.late"]
