"""Questions and their answers, through the Python client: who answers needs the question's id and the decision."""

import pytest

from tests.integration.client.conftest import Connect
from tests.integration.client.hands import AGENT, Hands
from turnwright.client import Budget, Client, CommandRejected, NotFound, Question, Session, Turn, TurnFailed
from turnwright.journal.commands import Ask
from turnwright.journal.entries import Entry, InteractionResolved, ToolDecided, ToolFinished
from turnwright.journal.messages import Text

SCHEMA = {"type": "object", "properties": {"answer": {"type": "string"}}, "required": ["answer"]}


async def asked(turn: Turn) -> Question:
    """The one question of the turn."""
    [question] = await turn.questions()
    return question


async def wanting(session: Session, asking: Hands, **arguments: object) -> Turn:
    """A turn that waits for an approval."""
    turn = await session.submit("one", agent=AGENT)
    await asking.want_tool(turn, arguments=arguments)
    return turn


async def deferred(session: Session, hands: Hands, ask: Ask) -> Turn:
    """A turn whose tool asks something."""
    turn = await session.submit("one", agent=AGENT)
    await hands.defer_tool(turn, await hands.call_tool(turn), ask)
    return turn


async def last(session: Session, kind: type) -> Entry:
    return [entry for entry in await session.thread(AGENT).history() if isinstance(entry.payload, kind)][-1]


async def test_a_question_says_what_is_asked_and_an_id_is_enough_to_approve_it(
    client: Client, session: Session, asking: Hands
) -> None:
    turn = await wanting(session, asking, n=3)
    [question] = (await client.inbox()).items
    assert question == await client.interaction(question.interaction_id) == await asked(turn)
    assert (question.kind, question.tool, question.arguments) == ("approval", "ledger", {"n": 3})
    assert (question.state, question.answers, question.turn_id) == ("open", ("approve", "deny"), turn.id)
    assert question.suggestions
    assert (await turn.status()).questions[0].interaction_id == question.interaction_id
    receipt = await client.approve(question.interaction_id, principal="bob", reason="fine")
    assert (receipt.status, receipt.turn_id) == ("accepted", turn.id)
    resolved = (await last(session, InteractionResolved)).payload
    assert isinstance(resolved, InteractionResolved)
    assert (resolved.resolution, resolved.principal, resolved.reason) == ("approve", "bob", "fine")
    settled = await client.interaction(question.interaction_id)
    assert (settled.state, settled.resolution, settled.principal) == ("resolved", "approve", "bob")
    assert (await client.inbox()).items == ()


async def test_arguments_edited_by_the_approver_are_what_is_decided(session: Session, asking: Hands) -> None:
    turn = await wanting(session, asking, n=3)
    question = await asked(turn)
    await turn.approve(question.interaction_id, arguments={"n": 1}, always="ledger(n=1)")
    decided = [e.payload for e in await session.thread(AGENT).history() if isinstance(e.payload, ToolDecided)][-1]
    assert (decided.decision, decided.arguments) == ("allow", {"n": 1})
    [rule] = (await session.thread(AGENT).permissions()).allow
    assert (rule.tool, rule.pattern) == ("ledger", "n=1")


async def test_a_denial_reaches_the_model_with_its_words_and_may_become_a_rule(session: Session, asking: Hands) -> None:
    turn = await wanting(session, asking)
    await turn.deny((await asked(turn)).interaction_id, "not this month", always="ledger")
    finished = (await last(session, ToolFinished)).payload
    assert isinstance(finished, ToolFinished)
    assert (finished.outcome, finished.by) == ("denied", "person")
    assert "not this month" in str(finished.output)
    assert [rule.tool for rule in (await session.thread(AGENT).permissions()).deny] == ["ledger"]


async def test_a_question_is_answered_once_and_who_is_late_is_told_who_was_first(
    client: Client, session: Session, asking: Hands
) -> None:
    question = await asked(await wanting(session, asking))
    await client.deny(question.interaction_id, principal="ann", request_id="r")
    assert (await client.deny(question.interaction_id, principal="ann", request_id="r")).duplicate
    with pytest.raises(CommandRejected, match="by ann: deny") as caught:
        await client.approve(question.interaction_id)
    assert caught.value.code == "already_answered"
    with pytest.raises(NotFound, match="question q-none"):
        await client.approve("q-none")
    rejected = await client.turn_of(question).approve("q-none", check=False)
    assert rejected.code == "unknown_interaction"


async def test_a_form_is_answered_with_what_fits_its_schema_or_declined(session: Session, hands: Hands) -> None:
    turn = await deferred(session, hands, Ask("form", {"prompt": "which?", "schema": SCHEMA}))
    question = await asked(turn)
    assert (question.kind, question.message, question.schema) == ("form", "which?", SCHEMA)
    with pytest.raises(CommandRejected) as caught:
        await turn.answer(question.interaction_id, {"answer": 3})
    assert caught.value.code == "invalid_answer"
    await turn.answer(question.interaction_id, "the red one")
    finished = (await last(session, ToolFinished)).payload
    assert "the red one" in str(finished)


async def test_a_form_may_be_declined(session: Session, hands: Hands) -> None:
    turn = await deferred(session, hands, Ask("form", {"prompt": "which?"}))
    await turn.decline((await asked(turn)).interaction_id, "ask somebody else")
    finished = (await last(session, ToolFinished)).payload
    assert isinstance(finished, ToolFinished)
    assert finished.outcome == "denied"
    assert "ask somebody else" in str(finished.output)


@pytest.mark.parametrize("failed", [False, True])
async def test_a_result_is_delivered_from_outside(client: Client, session: Session, hands: Hands, failed: bool) -> None:
    turn = await deferred(session, hands, Ask("external", {"prompt": "wait for the bank"}))
    question = await asked(turn)
    assert (question.kind, question.message) == ("external", "wait for the bank")
    await client.deliver(question.interaction_id, {"paid": not failed}, failed=failed)
    finished = (await last(session, ToolFinished)).payload
    assert isinstance(finished, ToolFinished)
    assert finished.outcome == ("error" if failed else "success")
    assert '"paid"' in str(finished.output)


@pytest.mark.parametrize(("output", "text"), [((), ""), ((None,), "null"), (("",), "")])
async def test_nothing_is_delivered_as_nothing_and_null_as_null(
    client: Client, session: Session, hands: Hands, output: tuple[str | None, ...], text: str
) -> None:
    turn = await deferred(session, hands, Ask("external", {}))
    await client.deliver((await asked(turn)).interaction_id, *output)
    finished = (await last(session, ToolFinished)).payload
    assert isinstance(finished, ToolFinished)
    assert [block.text for block in finished.output if isinstance(block, Text)] == [text]


async def over_budget(session: Session, hands: Hands, budget: Budget | None) -> Turn:
    """A turn that has begun one step and wants another."""
    turn = await session.submit("one", agent=AGENT, budget=budget)
    await hands.finish_tool(turn, await hands.call_tool(turn))
    await hands.look(turn, newest=True)
    return turn


async def test_a_turn_over_its_budget_asks_and_goes_on_when_it_is_raised(session: Session, hands: Hands) -> None:
    turn = await over_budget(session, hands, Budget(steps=1))
    question = await asked(turn)
    assert (question.kind, question.scope, question.over) == ("budget", "turn", ("steps",))
    spending = await session.thread(AGENT).budget()
    assert spending.turn is not None
    assert (spending.turn.turn_id, spending.turn.budget, spending.turn.used.steps) == (turn.id, Budget(steps=1), 1)
    with pytest.raises(CommandRejected) as caught:
        await turn.raise_budget(question.interaction_id, Budget(steps=1))
    assert caught.value.code == "still_over_budget"
    await turn.raise_budget(question.interaction_id, Budget(steps=5))
    await hands.ask_model(turn, 2)
    await hands.answer(turn, "done", step=2)
    assert (await turn.result()).text == "done"


async def test_a_turn_over_its_budget_may_be_told_to_fail(session: Session, hands: Hands) -> None:
    turn = await over_budget(session, hands, Budget(steps=1))
    await turn.fail_budget((await asked(turn)).interaction_id)
    await hands.look(turn, newest=True)
    with pytest.raises(TurnFailed, match="budget"):
        await turn.result(1)


async def test_a_budget_set_for_a_thread_or_its_turns_answers_what_asks_about_it(
    session: Session, hands: Hands
) -> None:
    thread = session.thread(AGENT)
    await thread.inject("material")
    await thread.set_budget(Budget(steps=1), scope="turns")
    await thread.set_budget(Budget(tokens=5_000))
    turn = await over_budget(session, hands, None)
    spending = await thread.budget()
    assert (spending.budget, spending.turns, spending.used.steps) == (Budget(tokens=5_000), Budget(steps=1), 1)
    assert (await asked(turn)).scope == "turn"
    await thread.set_budget(None, scope="turns")
    assert await turn.questions() == ()
    assert (await thread.budget()).turns is None


async def test_the_budget_of_a_session_counts_all_threads_and_raising_it_lets_them_go_on(
    session: Session, hands: Hands
) -> None:
    assert (await session.budget()).used is None
    await session.set_budget(Budget(steps=1))
    turn = await over_budget(session, hands, None)
    question = await asked(turn)
    assert (question.scope, question.commands[0]) == ("session", "turnwright session budget s --user ann --steps N")
    spending = await session.budget()
    assert spending.budget == Budget(steps=1)
    assert spending.used is not None
    assert spending.used.steps == 1
    await session.set_budget(Budget(steps=9), reason="more")
    await hands.look(turn, newest=True)
    assert await turn.questions() == ()


async def test_the_inbox_is_filtered_and_goes_on_in_pages_and_no_tenant_sees_another(
    connect: Connect, client: Client, session: Session, asking: Hands
) -> None:
    others = client.session(None, "other")
    await others.create()
    first = await wanting(session, asking)
    second = await wanting(others, asking)
    both = [first.id, second.id]
    assert [q.turn_id for q in (await client.inbox()).items] == both
    page = await client.inbox(limit=1)
    assert [q.turn_id for q in (await client.inbox(after=page.next)).items] == both[1:]
    assert [q.turn_id for q in (await client.inbox(session)).items] == both[:1]
    assert [q.turn_id for q in (await client.inbox(user=None)).items] == both[1:]
    assert [q.turn_id for q in (await client.inbox(agent=AGENT, kind="approval", tool="ledger")).items] == both
    assert (await client.inbox(tool="other")).items == ()
    assert (await client.inbox(kind="form")).items == ()
    await first.approve((await asked(first)).interaction_id)
    assert [q.turn_id for q in (await client.inbox(state="resolved")).items] == both[:1]
    assert [q.turn_id for q in (await client.inbox(state="any")).items] == both
    stranger = await connect(tenant="others")
    assert (await stranger.inbox(state="any")).items == ()
    with pytest.raises(NotFound):
        await stranger.approve((await asked(second)).interaction_id)
    with pytest.raises(NotFound):
        await client.inbox(client.session("ann", "none"))
