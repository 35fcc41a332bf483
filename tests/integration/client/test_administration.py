"""What an administrator does through the Python client: permissions, tasks, state, erasing, deleting."""

import asyncio
from typing import Literal

import pytest

from tests.integration.client.conftest import Connect
from tests.integration.client.hands import AGENT, Hands
from turnwright.client import Budget, Client, CommandRejected, NotFound, Session
from turnwright.journal.commands import Receipt
from turnwright.journal.entries import Erased, PermissionsChanged, TasksChanged
from turnwright.journal.errors import InvalidInput


async def code_of(rejecting: object) -> str:
    """The code of a command that must be rejected."""
    with pytest.raises(CommandRejected) as caught:
        await rejecting  # type: ignore[misc]
    return caught.value.code


async def test_permissions_are_changed_in_words_and_each_rule_says_who_set_it(session: Session, asking: Hands) -> None:
    thread = session.thread(AGENT)
    await asking.finish(await thread.submit("one"))
    await thread.set_permissions(
        mode="accept_edits",
        allow=["ledger(n=1)", "shell(prefix:git status)"],
        deny=["refund"],
        working_directories=["/srv/shop"],
        principal="ann",
    )
    now = await thread.permissions()
    assert (now.mode, now.working_directories) == ("accept_edits", ("/srv/shop",))
    assert [(rule.tool, rule.pattern, rule.source) for rule in now.allow] == [
        ("ledger", "n=1", "person:ann"),
        ("shell", "prefix:git status", "person:ann"),
    ]
    await thread.set_permissions(remove=["refund", "allow ledger(n=1)"], ask=["refund"])
    later = await thread.permissions()
    assert (later.mode, [r.tool for r in later.allow], later.deny) == ("accept_edits", ["shell"], ())
    assert [rule.tool for rule in later.ask] == ["refund"]


async def test_a_change_of_permissions_that_says_its_kinds_may_be_repeated(session: Session, asking: Hands) -> None:
    thread = session.thread(AGENT)
    await asking.finish(await thread.submit("one"))
    await thread.set_permissions(deny=["refund"])
    first = await thread.set_permissions(remove=["deny refund"], request_id="r")
    again = await thread.set_permissions(remove=["deny refund"], request_id="r")
    assert (first.duplicate, again.duplicate) == (False, True)
    changes = [e for e in await thread.history() if isinstance(e.payload, PermissionsChanged)]
    assert len(changes) == 2


async def test_what_cannot_be_a_change_of_permissions_changes_nothing(session: Session, hands: Hands) -> None:
    thread = session.thread(AGENT)
    assert await code_of(thread.set_permissions(mode="bypass")) == "unknown_thread"
    turn = await thread.submit("one")
    assert await code_of(thread.set_permissions(mode="explore")) == "not_opened"
    await hands.ask_model(turn)
    before = await thread.history()
    assert await code_of(thread.set_permissions(remove=["allow refund"])) == "bad_permissions"
    with pytest.raises(InvalidInput, match="no rule 'refund'"):
        await thread.set_permissions(remove=["refund"])
    with pytest.raises(InvalidInput, match="say what to change"):
        await thread.set_permissions()
    with pytest.raises(InvalidInput, match="cannot be read"):
        await thread.set_permissions(allow=["refund(what)"])
    assert await thread.history() == before
    await thread.set_permissions(mode="explore")
    assert await code_of(thread.set_permissions(mode="bypass")) == "turn_active"


async def test_a_trusted_caller_settles_what_the_work_is_and_what_was_checked(session: Session, hands: Hands) -> None:
    thread = session.thread(AGENT)
    await hands.finish(await thread.submit("one"))
    await thread.begin_task("ship it", ["tests pass"], principal="ann")
    [requirement] = (await thread.state()).tasks.requirements
    await thread.add_verification(requirement.id, passed=True, summary="all green", subject="c0ffee", principal="ci")
    await thread.decide_requirement(requirement.id, "rejected", reason="not needed", principal="ann")
    await thread.decide_objective("rejected")
    tasks = (await thread.state()).tasks
    assert (tasks.objective, tasks.objective_state) == ("ship it", "rejected")
    assert [(r.state, r.settled_by, r.reason) for r in tasks.requirements] == [("rejected", "ann", "not needed")]
    assert [(v.passed, v.summary, v.by) for v in tasks.verifications] == [(True, "all green", "ci")]
    assert await code_of(thread.decide_requirement("none", "confirmed")) == "refused"
    with pytest.raises(InvalidInput, match="verdict"):
        await thread.decide_requirement(requirement.id, "proposed")  # type: ignore[arg-type]
    with pytest.raises(InvalidInput, match="verdict"):
        await thread.decide_objective("proposed")  # type: ignore[arg-type]
    assert (await thread.deactivate_groups("none")).status == "accepted"
    changes = [e.payload for e in await thread.history() if isinstance(e.payload, TasksChanged)]
    assert [change.principal for change in changes[:3]] == ["ann", "ci", "ann"]


async def test_state_is_replaced_only_as_it_was_read_and_the_conversation_begins_anew(
    session: Session, hands: Hands
) -> None:
    thread = session.thread(AGENT)
    turn = await thread.submit("one")
    await hands.ask_model(turn)
    seen = await thread.state()
    assert (
        await code_of(thread.update_state({"summary": "x"}, expected_seq=seen.as_of_seq, reason="tidy"))
        == "turn_active"
    )
    assert await code_of(thread.clear_context()) == "turn_active"
    await hands.answer(turn, "done")
    assert (
        await code_of(thread.update_state({"summary": "x"}, expected_seq=seen.as_of_seq, reason="tidy")) == "stale_seq"
    )
    seen = await thread.state()
    assert (
        await code_of(thread.update_state({"tenant": "x"}, expected_seq=seen.as_of_seq, reason="tidy"))
        == "invalid_changes"
    )
    await thread.update_state({"summary": "they met"}, expected_seq=seen.as_of_seq, reason="tidy")
    changed = await thread.state()
    assert (changed.summary, changed.context) == ("they met", seen.context)
    assert await code_of(thread.clear_context(expected_seq=seen.as_of_seq, reason="tidy")) == "stale_seq"
    await thread.clear_context(expected_seq=changed.as_of_seq)
    cleared = await thread.state()
    assert (cleared.summary, cleared.context) == ("", ())
    assert await thread.state(seen.as_of_seq) == seen


async def test_the_content_of_an_entry_is_erased_once_and_nobody_finds_it_again(session: Session, hands: Hands) -> None:
    thread = session.thread(AGENT)
    await hands.finish(await thread.submit("my secret"))
    assert "my secret" in str(await thread.state())
    first = await thread.erase(1, reason="asked to", request_id="r")
    assert (await thread.erase(1, reason="asked to", request_id="r")).duplicate
    assert first.status == "accepted"
    [erased] = await thread.history(0, 1)
    assert isinstance(erased.payload, Erased)
    assert "my secret" not in str(await thread.history())
    assert "my secret" not in str(await thread.state())
    assert await code_of(thread.erase(99)) == "unknown_entry"
    assert await code_of(session.thread("other").erase(1)) == "unknown_thread"


async def test_what_a_session_was_called_is_erased_from_its_log_and_its_lists(client: Client, session: Session) -> None:
    first = await session.erase(1, reason="asked to", request_id="r")
    assert (await session.erase(1, reason="asked to", request_id="r")).seq == first.seq
    assert "A session" not in str(await session.history())
    assert [seen.control.title for seen in (await client.sessions()).items] == [None]
    assert await code_of(session.erase(99)) == "unknown_entry"
    assert await code_of(client.session("ann", "none").erase(1)) == "unknown_thread"


@pytest.mark.parametrize("of", ["thread", "turns", "session"])
async def test_two_who_change_other_bounds_of_a_budget_at_once_do_not_undo_each_other(
    connect: Connect, session: Session, hands: Hands, of: str
) -> None:
    await hands.finish(await session.submit("one", agent=AGENT))
    people = [(await connect()).session("ann", "s") for _ in range(2)]

    async def change(who: Session, request_id: str, budget: Budget) -> Receipt:
        if of == "session":
            return await who.set_budget(budget, keep=True, request_id=request_id)
        scope: Literal["thread", "turns"] = "thread" if of == "thread" else "turns"
        return await who.thread(AGENT).set_budget(budget, scope=scope, keep=True, request_id=request_id)

    await change(session, "before", Budget(tool_calls=3, cost_microusd=5))
    changes = [Budget(steps=7, tool_calls=None), Budget(tokens=100)]
    await asyncio.gather(*(change(w, f"r{n}", b) for n, (w, b) in enumerate(zip(people, changes, strict=True))))
    assert (await change(people[0], "r1", changes[1])).duplicate
    assert await code_of(change(people[0], "r1", Budget(tokens=100, steps=None))) == "request_id_reused"
    thread = await session.thread(AGENT).budget()
    budgets = {"session": (await session.budget()).budget, "thread": thread.budget, "turns": thread.turns}
    assert budgets[of] == Budget(steps=7, tokens=100, cost_microusd=5)


async def test_a_change_of_a_budget_that_names_nothing_is_none(session: Session) -> None:
    for budget in (None, Budget()):
        with pytest.raises(InvalidInput, match="name one"):
            await session.set_budget(budget, keep=True)


async def test_a_session_is_deleted_when_nothing_of_it_runs_and_each_store_says_what_it_erased(
    client: Client, session: Session, hands: Hands
) -> None:
    turn = await session.submit("one", agent=AGENT)
    assert await code_of(session.delete()) == "busy"
    assert (await session.delete(check=False)).stores == {}
    await hands.finish(turn)
    deleted = await session.delete(reason="asked to", request_id="d")
    assert deleted.receipt.status == "accepted"
    assert deleted.stores["journal"]["entries"] > 0
    assert deleted.stores["journal"]["turns"] == 1
    with pytest.raises(NotFound):
        await session.status()
    with pytest.raises(NotFound):
        await client.turn(turn.id)
    assert (await client.turns()).items == ()
    assert await code_of(session.submit("two", agent=AGENT)) in ("unknown_session", "session_deleted")
    assert await code_of(session.create()) == "session_deleted"
    assert await code_of(client.session("ann", "none").delete()) == "unknown_session"
    again = await session.delete(reason="asked to", request_id="d")
    assert again.receipt.duplicate
    assert again.stores == deleted.stores
