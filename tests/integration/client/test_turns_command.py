"""`turnwright turns pause|resume|cancel|retry`: the same command to all turns that the filters find."""

from tests.integration.client.hands import AGENT, Hands
from tests.integration.client.terminal import Run, lines, refused, shown
from turnwright.client import Client, Session


async def test_the_turns_that_filters_find_are_only_shown_without_yes(run: Run, session: Session) -> None:
    turns = [await session.submit("one", agent=AGENT, thread=f"t{n}") for n in range(3)]
    before = await session.history()
    looked = await run("turns", "cancel", "--agent", AGENT)
    assert all(turn.id[:10] in shown(looked) for turn in turns)
    assert "nothing was done; --yes would cancel these 3 turns" in looked.stderr
    [would] = lines(await run("turns", "pause", "-s", "s", "-u", "ann", "-t", "t1", "--json"))
    assert (would["would"], [turn["turn_id"] for turn in would["turns"]]) == ("pause", [turns[1].id])
    assert "say which turns to cancel" in refused(await run("turns", "cancel", "--yes"), 2)
    assert await session.history() == before


async def test_options_before_the_command_are_refused_for_it_would_not_see_them(run: Run, session: Session) -> None:
    turn = await session.submit("one", agent=AGENT)
    told = await run("turns", "--agent", "other", "cancel", "--all", "--yes")
    assert "behind the command: turnwright turns cancel" in refused(told, 2)
    assert (await turn.status()).status == "queued"


async def test_many_turns_are_paused_resumed_and_cancelled_each_with_its_receipt(
    run: Run, client: Client, session: Session
) -> None:
    turns = [await session.submit("one", agent=AGENT, thread=f"t{n}") for n in range(3)]
    await turns[0].pause()
    paused = lines(await run("turns", "pause", "--all", "--yes", "--json", "--reason", "lunch"))
    assert {line["id"] for line in paused} == {turns[1].id, turns[2].id}
    assert {line["receipt"]["status"] for line in paused} == {"accepted"}
    resumed = shown(await run("turns", "resume", "-a", AGENT, "--yes", "-n", "2"))
    assert resumed.count("accepted") == 2
    assert len((await client.turns(status="paused")).items) == 1
    cancelled = shown(await run("turns", "cancel", "--all", "-y"))
    assert cancelled.count("accepted") == 3
    assert "there are no such turns" in (await run("turns", "cancel", "--all", "-y")).stderr
    assert len((await client.turns(status="cancelled")).items) == 3


async def test_a_rejected_one_stops_no_other_and_is_told_by_the_exit_code(
    run: Run, session: Session, hands: Hands
) -> None:
    done = await session.submit("one", agent=AGENT, thread="t0")
    await hands.finish(done)
    open_ = await session.submit("one", agent=AGENT, thread="t1")
    told = await run("turns", "cancel", "--phase", "completed", "--phase", "queued", "--yes")
    assert refused(told) == "error: 1 of 2 were rejected"
    assert f"{done.id}  rejected (wrong_phase): " in told.stdout
    assert f"{open_.id}  accepted" in told.stdout


async def test_failed_turns_are_retried(run: Run, session: Session, hands: Hands) -> None:
    turns = [await session.submit("one", agent=AGENT, thread=f"t{n}", on_failure="hold") for n in range(2)]
    for turn in turns:
        await hands.ask_model(turn)
        await hands.fail_model(turn, "auth")
    assert shown(await run("turns", "retry", "-s", "s", "-u", "ann", "--yes")).count("accepted") == 2
    assert {(await turn.status()).status for turn in turns} == {"queued"}
