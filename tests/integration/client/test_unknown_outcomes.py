"""Who is asked what became of a call is told what to look for in the system that was called."""

from collections.abc import Awaitable, Callable
from typing import TypeAlias

import pytest

from tests.integration.client.hands import AGENT, TOOL, Hands
from tests.integration.client.terminal import Run, lines, shown
from turnwright.client import Client, Question, Session, Turn
from turnwright.journal.agents import ToolSpec
from turnwright.journal.driver import Driver
from turnwright.journal.entries import Entry
from turnwright.journal.state_parts import PermissionState
from turnwright.journal.store import Journal
from turnwright.journal.transact.thread_script import Terms

Lose: TypeAlias = Callable[..., Awaitable[Turn]]


@pytest.fixture
def lose(driver: Driver, session: Session, hands: Hands) -> Lose:
    """A turn whose worker died in the middle of its call, which a person had changed if `edited` says to what."""

    async def lose(edited: dict[str, int] | None = None, tool: ToolSpec = TOOL) -> Turn:
        hold = await driver.hold_presence("w-mortal", {}, lease_s=60)
        turn = await session.submit("one", agent=AGENT)
        permissions = None if edited is None else PermissionState()
        mortal = Hands(Journal(driver, Terms(presence="w-mortal")), "w-mortal", permissions)
        mortal.tool = tool
        call_id = await mortal.want_tool(turn)
        if edited is not None:
            await turn.approve((await asked(turn)).interaction_id, arguments=edited)
            await mortal.claim(turn)
        await mortal.start_tool(turn, call_id)
        await hold.release()
        await hands.claim(turn)
        return turn

    return lose


async def asked(turn: Turn) -> Question:
    [question] = await turn.questions()
    return question


async def entry(session: Session, kind: str) -> Entry:
    """The last entry of that type."""
    return [found for found in await session.thread(AGENT).history() if found.type == kind][-1]


async def test_a_question_about_an_unknown_outcome_says_what_was_called_under_which_key_and_when(
    client: Client, session: Session, hands: Hands, lose: Lose
) -> None:
    turn = await lose()
    question, started = await asked(turn), await entry(session, "tool.started")
    assert (question.kind, question.called_with, question.arguments) == ("unknown_outcome", {"n": 1}, {"n": 1})
    assert (question.idempotency_key, question.started_us) == (f"{turn.id}/{question.call_id}", started.at_us)
    [listed] = (await client.inbox()).items
    assert (listed.called_with, listed.idempotency_key, listed.started_us) == (None, None, None)
    await turn.reconcile(str(question.call_id), "run_again", reason="nothing is there")
    await hands.start_tool(turn, str(question.call_id))
    settled = await client.interaction(question.interaction_id)
    assert (settled.state, settled.started_us) == ("resolved", started.at_us)


async def test_what_the_tools_hook_says_when_it_cannot_find_out_stands_in_the_question(
    run: Run, client: Client, hands: Hands, lose: Lose
) -> None:
    turn = await lose(tool=TOOL.model_copy(update={"reconcilable": True}))
    assert await turn.questions() == ()
    thread = await hands.journal.thread(turn.key)
    assert thread is not None
    active = thread.control.turn(turn.id)
    assert active is not None
    await hands.doubt(turn, active.calls[0].call_id, "the bank does not answer")
    question = await asked(turn)
    assert (question.kind, question.message, question.called_with) == (
        "unknown_outcome", "the bank does not answer", {"n": 1},
    )  # fmt: skip
    [listed] = (await client.inbox()).items
    assert listed.message == "the bank does not answer"
    for look in (("approvals", "show", question.interaction_id), ("turn", "show", turn.id), ("turn", "why", turn.id)):
        assert "the bank does not answer" in shown(await run(*look)), look


async def test_a_result_that_comes_when_a_person_has_settled_its_call_is_shown_as_late(
    run: Run, session: Session, hands: Hands, lose: Lose
) -> None:
    turn = await lose()
    assert (await turn.report()).late == ()
    call_id = str((await asked(turn)).call_id)
    await turn.reconcile(call_id, "failed", reason="nothing is there")
    await hands.finish_tool(turn, call_id, "booked as 4711")
    kept = await entry(session, "tool.late")
    assert (await turn.report()).late == (kept,)
    assert f"not applied: ledger {call_id} attempt 1 success: booked as 4711" in shown(
        await run("turn", "show", turn.id)
    )
    [told] = lines(await run("turn", "show", turn.id, "--json"))
    assert [late["seq"] for late in told["late"]] == [kept.seq]
    await session.thread(AGENT).erase(kept.seq, reason="asked to")
    assert "not applied: (it was erased)" in shown(await run("turn", "show", turn.id))


async def test_arguments_that_whoever_approved_the_call_changed_are_those_that_are_told(
    session: Session, lose: Lose
) -> None:
    turn = await lose({"n": 7})
    assert (await asked(turn)).called_with == {"n": 7}
    await session.thread(AGENT).erase((await entry(session, "tool.decided")).seq, reason="asked to")
    assert (await asked(turn)).called_with is None


async def test_what_was_erased_of_a_call_is_told_no_more(session: Session, lose: Lose) -> None:
    turn, thread = await lose(), session.thread(AGENT)
    await thread.erase((await entry(session, "model.responded")).seq, reason="asked to")
    question = await asked(turn)
    assert (question.called_with, question.idempotency_key) == (None, f"{turn.id}/{question.call_id}")
    await thread.erase((await entry(session, "tool.started")).seq, reason="asked to")
    assert (await asked(turn)).idempotency_key is None
    await thread.erase((await entry(session, "interaction.requested")).seq, reason="asked to")
    assert (await asked(turn)).started_us is None
