"""Administration on the command line: permissions, budgets, state, erasing, deleting."""

import json

from tests.integration.client.hands import AGENT, Hands
from tests.integration.client.terminal import Run, lines, refused, shown
from turnwright.client import Budget, Session

AT = ("s", AGENT, "-u", "ann")
OF = ("s", "-u", "ann")


async def test_permissions_are_shown_and_changed(run: Run, session: Session, asking: Hands) -> None:
    await asking.finish(await session.submit("one", agent=AGENT))
    assert "no rules" in (await run("thread", "permissions", *AT)).stderr
    change = (
        "--mode",
        "accept_edits",
        "--allow",
        "ledger(n=1)",
        "--allow",
        "read",
        "--deny",
        "refund",
        "--dir",
        "/srv",
    )
    assert "accepted; thread main of echo" in shown(await run("thread", "permissions", *AT, *change))
    told = shown(await run("thread", "permissions", *AT))
    for word in ("accept_edits", "/srv", "ledger(n=1)", "refund", "person:"):
        assert word in told
    removed = shown(await run("thread", "permissions", *AT, "--remove", "deny refund", "--remove", "read"))
    assert "deny refund, read taken away; thread main of echo has mode accept_edits, rules: 1 allow" in removed
    [plain] = lines(await run("thread", "permissions", *AT, "--json"))
    assert [rule["tool"] for rule in plain["permissions"]["allow"]] == ["ledger"]
    assert plain["permissions"]["deny"] == []
    assert "no rule 'refund'" in refused(await run("thread", "permissions", *AT, "--remove", "refund"), 2)
    tail = shown(await run("journal", "tail", *OF))
    assert "mode accept_edits, rules: 1 deny, 2 allow" in tail


async def test_a_budget_of_thread_turns_or_session_changes_in_what_is_named(
    run: Run, session: Session, hands: Hands
) -> None:
    thread = session.thread(AGENT)
    await hands.finish(await thread.submit("one"))
    shown(await run("thread", "budget", *AT, "--steps", "1", "--cost-usd", "1.25"))
    told = shown(await run("thread", "budget", *AT, "--steps", "none", "--tokens", "1000"))
    assert "thread main of echo may use 1,000 tokens, $1.25 cost" in told
    told = shown(await run("thread", "budget", *AT, "--scope", "turns", "--wall-time", "90"))
    assert "each turn of thread main of echo may use 1 min 30 s wall time" in told
    spending = await thread.budget()
    assert spending.budget == Budget(tokens=1000, cost_microusd=1_250_000)
    assert spending.turns == Budget(wall_time_s=90)
    told = shown(await run("thread", "budget", *AT))
    for word in ("10 of 1,000", "$0.00 of $1.25", "at most 1 min 30 s"):
        assert word in told
    [plain] = lines(await run("thread", "budget", *AT, "--json"))
    assert (plain["budget"], plain["used"]["steps"]) == ({"tokens": 1000, "cost_microusd": 1_250_000}, 1)
    assert "not counted" in shown(await run("session", "budget", *OF))
    set_ = await run("session", "budget", *OF, "--steps", "7", "--tool-calls", "3")
    assert "may use 7 steps, 3 tool calls" in shown(set_)
    assert "1 of 7" in shown(await run("session", "budget", *OF))
    [seen] = lines(await run("session", "budget", *OF, "--json"))
    assert (seen["budget"], seen["used"]["steps"]) == ({"steps": 7, "tool_calls": 3}, 1)
    assert "without bound" in shown(await run("session", "budget", *OF, "--steps", "none", "--tool-calls", "none"))
    assert "is no amount" in refused(await run("session", "budget", *OF, "--steps", "1.5"), 2)
    tail = shown(await run("journal", "tail", *OF))
    assert "of the turns to come: 1 min 30 s wall time" in tail
    assert "7 steps, 3 tool calls" in tail


async def test_state_is_shown_replaced_as_it_was_read_and_cleared(run: Run, session: Session, hands: Hands) -> None:
    thread = session.thread(AGENT)
    await hands.finish(await thread.submit("one"))
    await thread.begin_task("ship it", ["tests pass"])
    told = shown(await run("thread", "state", *AT))
    for word in ("ship it (confirmed)", "confirmed: tests pass", "mode bypass"):
        assert word in told
    [state] = lines(await run("thread", "state", *AT, "--json"))
    assert state == lines(await run("journal", "state", *AT, "--json"))[0]
    change = ("--set", '{"summary": "they met"}', "--expected-seq")
    assert "is at entry" in refused(await run("thread", "state", *AT, *change, "1", "--reason", "tidy"))
    shown(await run("thread", "state", *AT, *change, str(state["as_of_seq"]), "--reason", "tidy"))
    assert (await thread.state()).summary == "they met"
    assert "--reason" in refused(await run("thread", "state", *AT, *change, str(state["as_of_seq"])), 2)
    assert "--expected-seq" in refused(await run("thread", "state", *AT, "--set", "{}"), 2)
    stale = await run("thread", "clear", *AT, "--expected-seq", "1", "--json")
    assert json.loads(refused(stale))["error"]["code"] == "stale_seq"
    assert "begins anew; its history stays" in shown(await run("thread", "clear", *AT))
    assert (await thread.state()).context == ()


async def test_what_cannot_be_brought_back_is_done_only_with_yes(run: Run, session: Session, hands: Hands) -> None:
    await hands.finish(await session.submit("my secret", agent=AGENT))
    before = await session.history()
    told = refused(await run("journal", "erase", *AT[:2], "1", *AT[2:]), 2)
    assert "say --yes" in told
    assert "my secret" in told
    assert "say --yes" in refused(await run("session", "delete", *OF), 2)
    assert await session.history() == before
    assert "entry 1 is erased" in shown(await run("journal", "erase", *AT[:2], "1", *AT[2:], "--yes"))
    assert "my secret" not in shown(await run("journal", "tail", *OF, "--after", "0"))
    assert "no entry 99" in refused(await run("journal", "erase", *AT[:2], "99", *AT[2:], "--yes"))
    assert "say --yes" in refused(await run("session", "erase", "s", "1", *OF[1:]), 2)
    assert "entry 1 of session s is erased" in shown(await run("session", "erase", "s", "1", *OF[1:], "--yes"))
    assert "A session" not in shown(await run("session", "list"))
    gone = shown(await run("session", "delete", *OF, "--yes", "--reason", "asked to", "--request-id", "d"))
    assert "session s is deleted" in gone
    assert "1 turns" in gone
    assert "there is no session s" in refused(await run("session", "show", *OF))
    [again] = lines(await run("session", "delete", *OF, "--yes", "--request-id", "d", "--json"))
    assert again["receipt"]["duplicate"] is True
    assert again["stores"]["journal"]["turns"] == 1
