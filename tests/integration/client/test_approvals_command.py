"""`turnwright approvals` and the answers of `turnwright turn`: the inbox of a terminal."""

import json

from tests.integration.client.hands import AGENT, Hands
from tests.integration.client.terminal import Run, lines, refused, shown
from turnwright.client import Budget, Client, Session, Turn
from turnwright.journal.commands import Ask
from turnwright.journal.entries import InteractionResolved, ToolDecided
from turnwright.journal.messages import Text

SCHEMA = {"type": "object", "properties": {"answer": {"type": "string"}}, "required": ["answer"]}


async def wanting(session: Session, asking: Hands, **arguments: object) -> tuple[Turn, str]:
    """A turn that waits for an approval, and the question's id."""
    turn = await session.submit("one", agent=AGENT, thread=f"{arguments or 'main'}"[:50])
    await asking.want_tool(turn, arguments=arguments)
    return turn, await asked(turn)


async def asked(turn: Turn) -> str:
    [question] = await turn.questions()
    return question.interaction_id


async def deferred(session: Session, hands: Hands, ask: Ask) -> tuple[Turn, str]:
    """A turn whose tool asks something, and the question's id."""
    turn = await session.submit("one", agent=AGENT)
    await hands.defer_tool(turn, await hands.call_tool(turn), ask)
    return turn, await asked(turn)


async def resolution_of(client: Client, name: str) -> str | None:
    return (await client.interaction(name)).resolution


async def test_the_inbox_shows_what_is_asked_and_a_turn_shows_the_command_that_answers(
    run: Run, session: Session, asking: Hands
) -> None:
    turn, name = await wanting(session, asking, n=3, note="x" * 200)
    listed = shown(await run("approvals", "list"))
    for word in (name, "approval", 'ledger({"n": 3', AGENT, "ann", "ago"):
        assert word in listed
    assert "x" * 100 not in listed
    whole = shown(await run("approvals", "show", name))
    assert "x" * 200 in whole
    of_turn = shown(await run("turn", "show", turn.id))
    assert f"approval {name} about call" in of_turn
    for told in (whole, of_turn, shown(await run("turn", "why", turn.id))):
        assert f"turnwright approvals approve {name}" in told
        assert f"turnwright approvals deny {name}" in told
    [page] = lines(await run("approvals", "list", "--json", "--kind", "approval", "--tool", "ledger", "-a", AGENT))
    [question] = page["questions"]
    assert (question["interaction_id"], question["turn_id"], question["state"]) == (name, turn.id, "open")
    assert question["asked"]["arguments"]["n"] == 3
    [view] = lines(await run("turn", "show", turn.id, "--json"))
    assert view["questions"] == [question]
    assert "no such questions" in (await run("approvals", "list", "--kind", "form")).stderr
    assert "there is no question q-none; see `turnwright approvals list`" in refused(
        await run("approvals", "show", "q-none")
    )


async def test_a_call_is_approved_with_edited_arguments_and_for_the_future(
    run: Run, client: Client, session: Session, asking: Hands
) -> None:
    turn, name = await wanting(session, asking, n=3)
    edited = ("--arguments", "-", "--always-rule", "ledger(n=1)", "--reason", "less")
    told = shown(await run("approvals", "approve", name, *edited, given='{"n": 1}'))
    assert f"accepted; turn {turn.id} is " in told
    assert "added the rule allow ledger(n=1)" in told
    assert "approval resolved: approve" in shown(await run("approvals", "list", "--state", "any"))
    thread = session.thread(AGENT, turn.key.thread)
    decided = [entry.payload for entry in await thread.history() if isinstance(entry.payload, ToolDecided)][-1]
    assert decided.arguments == {"n": 1}
    at = ("s", AGENT, "-u", "ann", "-t", turn.key.thread)
    assert "ledger(n=1)" in shown(await run("thread", "permissions", *at))
    late = await run("approvals", "deny", name, "--json")
    assert json.loads(refused(late))["error"]["code"] == "already_answered"
    assert await resolution_of(client, name) == "approve"


async def test_a_turn_that_asks_one_thing_is_answered_without_naming_the_question(
    run: Run, client: Client, session: Session, asking: Hands
) -> None:
    turn, name = await wanting(session, asking)
    assert "is running" in shown(await run("turn", "deny", turn.id, "--message", "not now"))
    assert await resolution_of(client, name) == "deny"
    assert "asks for no approval" in refused(await run("turn", "approve", turn.id), 2)
    other, asked_too = await wanting(session, asking, n=2)
    assert "added the rule allow ledger(" in shown(await run("turn", "approve", other.id, asked_too, "--always"))
    assert await resolution_of(client, asked_too) == "approve"
    third, last = await wanting(session, asking, n=3)
    assert "is answered with approve or deny" in refused(await run("turn", "respond", third.id, last, "maybe"))
    given = ("--answer", '{"message": "no"}')
    shown(await run("turn", "respond", third.id, last, "deny", *given))
    assert await resolution_of(client, last) == "deny"


async def test_several_questions_are_answered_by_id_each_with_a_receipt(
    run: Run, client: Client, session: Session, asking: Hands
) -> None:
    names = [(await wanting(session, asking, n=n))[1] for n in range(3)]
    await client.deny(names[1])
    told = await run("approvals", "approve", *names)
    assert refused(told) == "error: 1 of 3 were rejected"
    first, second, third = told.stdout.splitlines()
    assert first == f"{names[0]}  accepted"
    assert second.startswith(f"{names[1]}  rejected (already_answered)")
    assert third == f"{names[2]}  accepted"
    assert "--arguments goes with the id of one" in refused(
        await run("approvals", "approve", *names, "--arguments", "{}"), 2
    )


async def test_questions_that_a_filter_finds_are_shown_and_answered_only_with_yes(
    run: Run, client: Client, session: Session, asking: Hands
) -> None:
    names = [(await wanting(session, asking, n=n))[1] for n in range(3)]
    before = await session.history()
    looked = await run("approvals", "approve", "--tool", "ledger")
    assert all(name in shown(looked) for name in names)
    assert "nothing was done; --yes would approve these 3 questions" in looked.stderr
    [would] = lines(await run("approvals", "deny", "-a", AGENT, "--json", "-n", "2"))
    assert (would["would"], len(would["questions"]), would["more"]) == ("deny", 2, True)
    assert "say which questions" in refused(await run("approvals", "deny", "--yes"), 2)
    assert "exclude each other" in refused(await run("approvals", "deny", names[0], "--tool", "ledger", "--yes"), 2)
    assert "--request-id" in refused(await run("approvals", "deny", "--all", "--yes", "--request-id", "r"), 2)
    assert await session.history() == before
    receipts = lines(await run("approvals", "deny", "--session", "s", "-u", "ann", "--yes", "--json"))
    assert [(line["id"], line["receipt"]["status"]) for line in receipts] == [(name, "accepted") for name in names]
    assert "no such questions" in (await run("approvals", "deny", "--all", "--yes")).stderr
    assert (await client.inbox()).items == ()


async def test_a_form_is_answered_in_words_or_with_json_or_declined(
    run: Run, client: Client, session: Session, hands: Hands
) -> None:
    ask = Ask("form", {"prompt": "which one?", "schema": SCHEMA})
    turn, name = await deferred(session, hands, ask)
    assert "which one?" in shown(await run("approvals", "list"))
    assert f"turnwright approvals answer {name} --answer JSON" in shown(await run("turn", "show", turn.id))
    assert "does not fit" in refused(await run("approvals", "answer", name, "--answer", "{}"))
    assert "is no object" in refused(await run("approvals", "answer", name, "--answer", "[]"), 2)
    assert "is no JSON" in refused(await run("approvals", "answer", name, "--answer", "{"), 2)
    assert "say the answer" in refused(await run("approvals", "answer", name), 2)
    shown(await run("approvals", "answer", name, "--text", "the red one"))
    [result] = [r for m in (await session.thread(AGENT).state()).context for r in m.results]
    assert "the red one" in str(result.output)
    other = client.session("ann", "other")
    await other.create()
    _, second = await deferred(other, hands, ask)
    shown(await run("approvals", "decline", second, "--message", "no idea"))
    assert await resolution_of(client, second) == "decline"


async def test_a_result_from_outside_is_delivered_as_text_json_or_failure(
    run: Run, client: Client, session: Session, hands: Hands
) -> None:
    _, name = await deferred(session, hands, Ask("external", {"prompt": "wait for the bank"}))
    assert "say the result" in refused(await run("approvals", "deliver", name), 2)
    assert "exclude" in refused(await run("approvals", "deliver", name, "--output", "x", "--output-json", "1"), 2)
    shown(await run("approvals", "deliver", name, "--output", "-", given="paid"))
    [result] = [r for m in (await session.thread(AGENT).state()).context for r in m.results]
    assert result.output == (Text(text="paid"),)
    other = client.session("ann", "other")
    await other.create()
    _, second = await deferred(other, hands, Ask("external", {"prompt": "wait"}))
    shown(await run("approvals", "deliver", second, "--failed"))
    assert await resolution_of(client, second) == "failed"


async def test_a_budget_is_raised_or_the_turn_fails(run: Run, client: Client, session: Session, hands: Hands) -> None:
    given = ("--budget-steps", "1", "--budget-cost-usd", "0.50", "--budget-tokens", "100000")
    [told] = lines(await run("submit", "x", "-s", "s", "-u", "ann", "-a", AGENT, *given, "--json"))
    turn = session.thread(AGENT).turn(told["receipt"]["turn_id"])
    await hands.finish_tool(turn, await hands.call_tool(turn))
    await hands.look(turn, newest=True)
    name = await asked(turn)
    assert "budget of the turn: 1 of 1 steps used" in shown(await run("approvals", "show", name))
    assert f"`turnwright approvals raise {name} --steps N`" in shown(await run("turn", "why", turn.id))
    at = ("s", AGENT, "-u", "ann")
    table = shown(await run("thread", "budget", *at))
    assert "1 of 1" in table
    assert "$0.00 of $0.50" in table
    assert "say what may be used" in refused(await run("approvals", "raise", name), 2)
    assert "is no amount" in refused(await run("approvals", "raise", name, "--steps", "-1"), 2)
    assert "that much or more is used" in refused(await run("approvals", "raise", name, "--steps", "1"))
    shown(await run("approvals", "raise", name, "--steps", "2", "--tool-calls", "9", "--cost-usd", "none"))
    spending = (await session.thread(AGENT).budget()).turn
    assert spending is not None
    assert spending.budget == Budget(steps=2, tokens=100_000, tool_calls=9)
    await hands.finish_tool(turn, await hands.call_tool(turn, 2), step=2)
    await hands.look(turn, newest=True)
    shown(await run("approvals", "fail", await asked(turn)))
    entries = await session.thread(AGENT).history()
    resolved = [entry.payload for entry in entries if isinstance(entry.payload, InteractionResolved)]
    assert [one.resolution for one in resolved] == ["raise", "fail"]
