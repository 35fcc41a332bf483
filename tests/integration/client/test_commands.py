"""Commands are accepted by the journal alone: Temporal refuses connections here and no worker lives."""

import asyncio

import pytest

from tests.integration.client.conftest import Connect
from tests.integration.client.hands import AGENT, Hands
from tests.integration.client.program import NOBODY_THERE
from turnwright.client import Client, CommandRejected, Session
from turnwright.journal.driver import Driver
from turnwright.journal.entries import InputSteered, TurnQueued
from turnwright.journal.errors import InvalidInput
from turnwright.journal.messages import Message, Text, ToolResult
from turnwright.journal.store import Journal
from turnwright.journal.transact.thread_script import Terms


async def test_every_command_is_accepted_while_temporal_and_all_workers_are_down(
    client: Client, session: Session
) -> None:
    thread = session.thread(AGENT)
    turn = await thread.submit("one")
    held = await thread.submit("two", on_failure="hold")
    receipts = [
        turn.receipt,
        await turn.steer("and this"),
        await thread.inject("material"),
        await turn.pause(reason="lunch"),
        await turn.resume(),
        await thread.pause(),
        await thread.resume(),
        await session.pause(),
        await session.resume(),
        await held.cancel(),
        await thread.cancel(),
        await thread.close(),
        await session.cancel(),
        await session.close("cancel"),
    ]
    assert [receipt.status for receipt in receipts if receipt] == ["accepted"] * len(receipts)
    assert (await turn.status()).status == "cancelled"


async def test_a_wake_up_that_could_not_be_sent_is_told_and_is_no_error(client: Client, session: Session) -> None:
    await session.submit("one", agent=AGENT)
    told = await client.flush()
    assert told is not None
    assert NOBODY_THERE in told


async def test_who_did_it_and_why_stand_in_the_entries(client: Client, session: Session) -> None:
    turn = await session.submit("one", agent=AGENT, principal="bob", reason="he asked")
    await turn.pause(reason="lunch")
    entries = await session.thread(AGENT).history()
    told = [(getattr(entry.payload, "principal", None), getattr(entry.payload, "reason", None)) for entry in entries]
    assert told == [("bob", "he asked"), (client.settings.principal, "lunch")]


async def test_a_rejection_is_raised_with_its_receipt_or_returned_and_changes_nothing(session: Session) -> None:
    turn = await session.submit("one", agent=AGENT)
    before = await session.history()
    with pytest.raises(CommandRejected, match="not paused") as caught:
        await turn.resume(1)
    assert (caught.value.code, caught.value.receipt.status) == ("not_paused", "rejected")
    receipt = await turn.retry(check=False)
    assert (receipt.status, receipt.code) == ("rejected", "wrong_phase")
    assert await session.history() == before


async def test_nothing_is_accepted_for_what_does_not_exist(client: Client, session: Session) -> None:
    stranger = client.session("ann", "other")
    codes = [
        (await stranger.pause(check=False)).code,
        (await stranger.submit("x", agent=AGENT, check=False)).receipt.code,  # type: ignore[union-attr]
        (await session.thread(AGENT).cancel(check=False)).code,
        (await session.thread(AGENT).turn("t-0").cancel(check=False)).code,
    ]
    await session.submit("one", agent=AGENT)
    codes.append((await session.thread(AGENT).turn("t-0").cancel(check=False)).code)
    assert codes == ["unknown_session", "unknown_session", "unknown_thread", "unknown_thread", "unknown_turn"]


async def test_a_session_is_created_once_and_exist_ok_leaves_it_as_it_is(client: Client, session: Session) -> None:
    with pytest.raises(CommandRejected) as caught:
        await session.create(title="Another")
    assert caught.value.code == "session_exists"
    again = await session.create(title="Another", exist_ok=True)
    assert again.code == "session_exists"
    assert (await session.status()).control.title == "A session"
    same, once_more = await session.create(title="A session"), await session.create(title="A session")
    assert [(one.status, one.duplicate) for one in (same, once_more)] == [("accepted", True)] * 2
    assert len(await session.history()) == 1
    await session.erase(1)
    with pytest.raises(CommandRejected, match="exists already"):
        await session.create(title="A session")


async def test_the_same_request_three_times_is_one_turn_and_one_receipt_also_after_its_end(
    session: Session, hands: Hands
) -> None:
    first = await session.submit("one", agent=AGENT, request_id="r")
    second = await session.submit("one", agent=AGENT, request_id="r")
    await hands.finish(first)
    third = await session.submit("one", agent=AGENT, request_id="r")
    assert first.receipt
    assert second.receipt
    assert third.receipt
    assert {first.id, second.id, third.id} == {first.id}
    assert [first.receipt.duplicate, second.receipt.duplicate, third.receipt.duplicate] == [False, True, True]
    assert first.receipt.seq == second.receipt.seq == third.receipt.seq
    queued = [e for e in await session.thread(AGENT).history() if isinstance(e.payload, TurnQueued)]
    assert len(queued) == 1


async def test_a_request_id_does_not_serve_for_another_command(session: Session) -> None:
    turn = await session.submit("one", agent=AGENT, request_id="r")
    with pytest.raises(CommandRejected) as caught:
        await session.submit("two", agent=AGENT, request_id="r")
    assert caught.value.code == "request_id_reused"
    assert (await turn.pause(request_id="r", check=False)).code == "request_id_reused"


async def test_of_clients_that_race_with_reject_exactly_one_is_accepted(connect: Connect, session: Session) -> None:
    others = [(await connect()).session("ann", "s") for _ in range(2)]
    tries = [other.submit(f"mine {n}", agent=AGENT, if_busy="reject") for n, other in enumerate(others)]
    ends = await asyncio.gather(*tries, return_exceptions=True)
    refused = [end for end in ends if isinstance(end, CommandRejected)]
    assert [error.code for error in refused] == ["busy"]
    assert len(await session.thread(AGENT).history()) == 1


async def test_interrupt_cancels_the_active_turn_and_comes_before_the_queue(session: Session, hands: Hands) -> None:
    active = await session.submit("one", agent=AGENT)
    await session.submit("two", agent=AGENT)
    await hands.claim(active)
    urgent = await session.submit("now", agent=AGENT, if_busy="interrupt")
    assert (await active.status()).status == "cancelled"
    assert (await urgent.status()).ahead == 0
    await hands.finish(urgent, "at once")
    assert (await urgent.result()).text == "at once"


async def test_messages_sent_while_busy_are_kept_in_order_and_exactly_once(
    connect: Connect, session: Session, hands: Hands
) -> None:
    turn = await session.submit("one", agent=AGENT)
    await hands.ask_model(turn)
    clients = [await connect() for _ in range(5)]
    handles = [client.session("ann", "s").thread(AGENT).turn(turn.id) for client in clients]
    receipts = await asyncio.gather(*(handle.steer(f"steer {n}") for n, handle in enumerate(handles)))
    turns = await asyncio.gather(
        *(client.session("ann", "s").submit(f"turn {n}", agent=AGENT) for n, client in enumerate(clients))
    )
    entries = await session.thread(AGENT).history()
    steers = [(e.seq, e.payload.message.text) for e in entries if isinstance(e.payload, InputSteered)]
    queued = [(e.seq, e.turn_id) for e in entries if isinstance(e.payload, TurnQueued)][1:]
    assert steers == sorted((receipt.seq, f"steer {n}") for n, receipt in enumerate(receipts))
    assert queued == sorted((handle.receipt.seq, handle.id) for handle in turns if handle.receipt)
    await hands.answer(turn, "first")  # forces one more step, which sees the steers
    await hands.ask_model(turn, 2)
    await hands.answer(turn, "second", step=2)
    state = await session.thread(AGENT).state()
    texts = [message.text for message in state.context]
    assert texts == ["one", "first", *(text for _, text in steers), "second"]
    for _, turn_id in queued:
        await hands.finish(session.thread(AGENT).turn(turn_id or ""), "x")


async def test_a_stale_revision_is_rejected_and_the_current_one_found_without_asking(session: Session) -> None:
    turn = await session.submit("one", agent=AGENT)
    paused = await turn.pause()
    await turn.resume(paused.revision)
    again = await turn.pause()
    with pytest.raises(CommandRejected) as caught:
        await turn.resume(paused.revision)
    assert caught.value.code == "stale_revision"
    assert (await turn.status()).status == "paused"
    resumed = await turn.resume()
    assert resumed.revision == again.revision + 1
    for level in (session.thread(AGENT), session):
        await level.pause()
        await level.resume()
        await level.pause()
        assert (await level.resume(1, check=False)).code == "stale_revision"
        await level.resume()


async def test_resuming_without_a_revision_holds_against_others_who_change_it(
    connect: Connect, session: Session
) -> None:
    turn = await session.submit("one", agent=AGENT)
    other = (await connect()).session("ann", "s").thread(AGENT).turn(turn.id)

    async def flip() -> None:
        for _ in range(20):
            await other.pause(check=False)
            await other.resume(check=False)

    async def resume() -> list[str | None]:
        return [(await turn.resume(check=False)).code for _ in range(20)]

    _, codes = await asyncio.gather(flip(), resume())
    assert set(codes) <= {None, "not_paused"}


async def test_an_unknown_outcome_is_reconciled_by_a_person(driver: Driver, session: Session, hands: Hands) -> None:
    hold = await driver.hold_presence("w-mortal", {"agents": [AGENT]}, lease_s=60)
    mortal = Hands(Journal(driver, Terms(presence="w-mortal")), "w-mortal")
    turn = await session.submit("one", agent=AGENT)
    call_id = await mortal.call_tool(turn)
    assert (await turn.why()).code == "operation"
    assert (await turn.reconcile(call_id, "succeeded", reason="I looked", check=False)).code == "not_unknown"
    await hold.release()
    assert (await turn.why()).code == "worker_lost"
    await hands.claim(turn)
    view, why = await turn.status(), await turn.why()
    assert (view.status, [question.kind for question in view.questions]) == ("waiting", ["unknown_outcome"])
    assert (why.code, call_id in why.text) == ("waiting", True)
    await turn.reconcile(call_id, "succeeded", "it was written", reason="I looked")
    await hands.ask_model(turn, 2)
    await hands.answer(turn, "then all is well", step=2)
    assert (await turn.result(30)).text == "then all is well"
    state = await session.thread(AGENT).state()
    [result] = [result for message in state.context for result in message.results]
    assert (result.id, result.outcome, result.output) == (call_id, "success", (Text(text="it was written"),))


@pytest.mark.parametrize(
    "message",
    ["", "  \n", Message(role="user"), Message(role="assistant", blocks=(Text(text="I said so"),)),
     Message(role="user", blocks=(ToolResult(id="c", name="t"),))],
)  # fmt: skip
async def test_an_input_that_is_none_is_refused_before_it_is_sent(session: Session, message: str | Message) -> None:
    with pytest.raises(InvalidInput):
        await session.submit(message, agent=AGENT)
    with pytest.raises(InvalidInput):
        await session.submit("x", agent=AGENT, request_id="a\nb")
    assert [located.entry.type for located in await session.history()] == ["session.created"]


async def test_text_no_store_can_hold_is_repaired_visibly(session: Session) -> None:
    turn = await session.submit("nul \x00 and \ud83d cut", agent=AGENT, reason="r\ud800")
    [entry] = await session.thread(AGENT).history()
    assert isinstance(entry.payload, TurnQueued)
    assert entry.payload.input.text == "nul ␀ and � cut"
    assert (await turn.status()).status == "queued"
