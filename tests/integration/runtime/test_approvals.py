"""People decide about calls: each answer reaches its own call, whatever dies meanwhile, and counts once."""

from pathlib import Path

import pytest

from tests.integration.runtime.asking import ASKING, PEOPLE, allow, asked, questions, respond, results
from tests.integration.runtime.cluster import Cluster
from tests.integration.runtime.scripts import Step, call, calls, say
from turnwright.journal.entries import InteractionResolved
from turnwright.journal.view import DENIED_VIEW, request_messages


async def test_two_calls_ask_at_once_and_answers_in_reverse_order_reach_their_own_calls(
    cluster: Cluster, tmp_path: Path
) -> None:
    await cluster.start_worker(agents=PEOPLE)
    first, second = str(tmp_path / "first"), str(tmp_path / "second")
    both = calls(("send", {"log": first}), ("charge", {"log": second}))
    turn = await cluster.submit(both, say("done"), agent="asking")
    sending, charging = await questions(turn, 2)
    assert (await respond(turn, charging.interaction_id, "approve")).status == "accepted"
    assert not (tmp_path / "second").exists(), "no call of the step runs before the last answer"
    await respond(turn, sending.interaction_id, "deny", message="not this letter")
    await turn.until("completed")
    assert not (tmp_path / "first").exists()
    outcomes = {name: (outcome, text) for name, outcome, text in await results(turn)}
    assert outcomes == {"send": ("denied", "not this letter"), "charge": ("success", "done by attempt 1")}


async def test_a_call_approved_while_no_worker_lives_runs_once_on_a_worker_that_knows_nothing(
    cluster: Cluster, tmp_path: Path
) -> None:
    old = await cluster.start_worker(agents=PEOPLE)
    log = tmp_path / "log"
    turn = await cluster.submit(call("send", log=str(log)), say("done"), agent="asking")
    [question] = await questions(turn)
    await turn.until_parked()
    await old.stop()
    await respond(turn, question.interaction_id, "approve")
    await cluster.start_worker(agents=PEOPLE)
    await turn.until("completed", nudging=True)
    assert log.read_text().count("started") == 1
    state = await cluster.journal.state(turn.key)
    assert not state.pending_calls
    assert [r.outcome for m in state.context for r in m.results] == ["success"]


async def test_a_turn_that_waits_for_an_answer_runs_nowhere(cluster: Cluster, tmp_path: Path) -> None:
    """It has no open run, no timer and no activity, so it may wait for as long as anybody likes."""
    await cluster.start_worker(agents=PEOPLE)
    turn = await cluster.submit(call("send", log=str(tmp_path / "log")), say("done"), agent="asking")
    [question] = await questions(turn)
    await turn.until_parked()
    await cluster.until_idle(turn.key)
    assert question.deadline_us is None
    assert (await cluster.journal.thread(turn.key)).runnable is False  # type: ignore[union-attr]
    before = len(await turn.entries())
    await cluster.waker.thread(turn.key)
    await cluster.until_idle(turn.key)
    assert len(await turn.entries()) == before, "to be looked at changes nothing"
    await respond(turn, question.interaction_id, "approve")
    await turn.until("completed")


async def test_an_approved_call_whose_activity_breaks_behind_its_effect_is_settled_and_not_asked_again(
    cluster: Cluster, tmp_path: Path
) -> None:
    broken: list[str] = []

    async def boundary(place: str) -> None:
        if place == "tool:ran" and not broken:
            broken.append(place)
            raise RuntimeError("the activity fails after the effect")

    await cluster.start_worker(agents=PEOPLE, boundary=boundary)
    log = tmp_path / "log"
    turn = await cluster.submit(call("transfer", log=str(log)), say("done"), agent="asking")
    [question] = await questions(turn)
    await respond(turn, question.interaction_id, "approve")
    await turn.until("completed", nudging=True)
    assert broken
    assert log.read_text().count("started") == 1
    assert [payload.kind for payload in await asked(turn)] == ["approval"]
    assert "tool.reconciled" in await turn.types()


async def test_arguments_that_were_edited_are_what_runs_and_what_the_model_sees(
    cluster: Cluster, tmp_path: Path
) -> None:
    await cluster.start_worker(agents=PEOPLE)
    wanted, given = tmp_path / "wanted", tmp_path / "given"
    turn = await cluster.submit(call("send", log=str(wanted)), say("done"), agent="asking")
    [question] = await questions(turn)
    wrong = await respond(turn, question.interaction_id, "approve", arguments={"log": 7})
    assert wrong.code == "invalid_arguments"
    await respond(turn, question.interaction_id, "approve", arguments={"log": str(given)})
    await turn.until("completed")
    assert given.exists()
    assert not wanted.exists()
    [seen] = [c for m in (await cluster.journal.state(turn.key)).context for c in m.calls]
    assert (seen.arguments, seen.edited) == ({"log": str(given)}, True)


async def test_an_approval_is_of_one_call_and_the_next_of_the_same_tool_is_asked_about(
    cluster: Cluster, tmp_path: Path
) -> None:
    await cluster.start_worker(agents=PEOPLE)
    one, other = str(tmp_path / "one"), str(tmp_path / "other")
    turn = await cluster.submit(call("send", log=one), call("send", log=other), say("done"), agent="asking")
    [first] = await questions(turn)
    await respond(turn, first.interaction_id, "approve")
    [second] = await questions(turn)
    assert [payload.asked["arguments"]["log"] for payload in await asked(turn)] == [one, other]
    await respond(turn, second.interaction_id, "deny")
    await turn.until("completed")
    assert not (tmp_path / "other").exists()


async def test_always_allow_outlives_every_worker_until_it_is_taken_back(cluster: Cluster, tmp_path: Path) -> None:
    old = await cluster.start_worker(agents=PEOPLE)
    log = tmp_path / "log"
    turn = await cluster.submit(call("send", log=str(log)), say("done"), agent="asking")
    [question] = await questions(turn)
    await respond(turn, question.interaction_id, "approve", always="send")
    await turn.until("completed")
    await old.stop()
    await cluster.start_worker(agents=PEOPLE)
    allowed = await cluster.submit(call("send", log=str(log)), say("done"), agent="asking")
    await allowed.until("completed")
    assert await asked(allowed) == []
    assert (await allow(allowed, remove=("send",))).status == "accepted"
    again = await cluster.submit(call("send", log=str(log)), say("done"), agent="asking")
    await questions(again)
    assert log.read_text().count("started") == 2


async def test_always_deny_denies_the_next_call_without_asking(cluster: Cluster, tmp_path: Path) -> None:
    await cluster.start_worker(agents=PEOPLE)
    log = tmp_path / "log"
    turn = await cluster.submit(call("send", log=str(log)), call("send", log=str(log)), say("done"), agent="asking")
    [question] = await questions(turn)
    await respond(turn, question.interaction_id, "deny", always="send")
    await turn.until("completed")
    (_, person, _), (_, rule, said) = await results(turn)
    assert (person, rule) == ("denied", "denied")
    assert "rule:deny send" in said
    assert not log.exists()


async def test_a_cancel_closes_the_question_with_a_result_for_its_call_and_the_next_message_is_taken(
    cluster: Cluster, tmp_path: Path
) -> None:
    await cluster.start_worker(agents=PEOPLE)
    turn = await cluster.submit(call("send", log=str(tmp_path / "log")), say("done"), agent="asking")
    [question] = await questions(turn)
    await turn.cancel()
    await turn.until("cancelled")
    [resolved] = [e.payload for e in await turn.of_type("interaction.resolved")]
    assert isinstance(resolved, InteractionResolved)
    assert (resolved.interaction_id, resolved.resolution) == (question.interaction_id, "cancelled")
    assert [(name, outcome) for name, outcome, _ in await results(turn)] == [("send", "interrupted")]
    assert (await respond(turn, question.interaction_id, "approve")).code == "wrong_phase"
    following = await cluster.submit(say("hello again"), agent="asking")
    await following.until("completed")


async def test_a_denial_is_shown_to_the_model_as_the_persons_choice_and_kept_as_it_was_said(
    cluster: Cluster, tmp_path: Path
) -> None:
    await cluster.start_worker(agents=PEOPLE)
    turn = await cluster.submit(call("send", log=str(tmp_path / "log")), say("done"), agent="asking")
    [question] = await questions(turn)
    await respond(turn, question.interaction_id, "deny")
    await turn.until("completed")
    state = await cluster.journal.state(turn.key)
    [shown] = [r for m in request_messages(state) for r in m.results]
    [kept] = [r for m in state.context for r in m.results]
    assert shown.output[0].text == DENIED_VIEW  # type: ignore[union-attr]
    assert DENIED_VIEW not in str(kept.output)


async def test_an_answer_given_during_a_pause_is_kept_until_the_turn_is_resumed(
    cluster: Cluster, tmp_path: Path
) -> None:
    await cluster.start_worker(agents=PEOPLE)
    log = tmp_path / "log"
    turn = await cluster.submit(call("send", log=str(log)), say("done"), agent="asking")
    [question] = await questions(turn)
    await turn.pause()
    await respond(turn, question.interaction_id, "approve")
    await turn.until_parked()
    assert not log.exists()
    await turn.resume()
    await turn.until("completed")
    assert log.read_text().count("started") == 1


async def test_an_approval_that_nobody_gave_in_time_is_expired_and_no_denial(cluster: Cluster, tmp_path: Path) -> None:
    await cluster.start_worker(agents=PEOPLE)
    turn = await cluster.submit(call("send", log=str(tmp_path / "log")), say("done"), agent="hasty")
    await turn.until("completed", nudging=True)
    assert (await turn.of_type("interaction.expired"))[0].payload.resolution == "expired"  # type: ignore[attr-defined]
    [(_, outcome, said)] = await results(turn)
    assert outcome == "error"
    assert "in time" in said
    following = await cluster.submit(say("hello again"), agent="hasty")
    await following.until("completed")


async def test_a_late_answer_is_told_that_the_time_is_over(cluster: Cluster, tmp_path: Path) -> None:
    worker = await cluster.start_worker(agents=PEOPLE)
    turn = await cluster.submit(call("send", log=str(tmp_path / "log")), say("done"), agent="hasty")
    await turn.until_entry("interaction.requested")
    await worker.stop()
    [question] = await asked(turn)

    async def over() -> bool:
        await cluster.journal.dispatch(turn.key)
        return "interaction.expired" in await turn.types()

    await cluster.until(over)
    before = len(await turn.entries())
    late = await respond(turn, question.interaction_id, "approve", wake=False)
    assert (late.status, late.code) == ("rejected", "expired")
    assert len(await turn.entries()) == before


async def test_a_deadline_may_mean_approval(cluster: Cluster, tmp_path: Path) -> None:
    await cluster.start_worker(agents=PEOPLE)
    log = tmp_path / "log"
    turn = await cluster.submit(call("send", log=str(log)), say("done"), agent="trusting")
    await turn.until("completed", nudging=True)
    assert log.read_text().count("started") == 1


@pytest.mark.parametrize("tool", ["look", "add"])
async def test_tools_that_only_read_do_not_ask(cluster: Cluster, tmp_path: Path, tool: str) -> None:
    await cluster.start_worker(agents=[ASKING])
    arguments = {"log": str(tmp_path / "log")} if tool == "look" else {"a": 1, "b": 2}
    turn = await cluster.submit(call(tool, **arguments), say("done"), agent="asking")
    await turn.until("completed")
    assert await asked(turn) == []


@pytest.mark.parametrize(
    "step", [call("send", log=7), {"call": [{"name": "send", "malformed": "{not json"}]}], ids=["unfit", "malformed"]
)
async def test_nobody_is_asked_about_a_call_that_cannot_be_made(cluster: Cluster, step: Step) -> None:
    await cluster.start_worker(agents=PEOPLE)
    turn = await cluster.submit(step, say("I see."), agent="asking")
    await turn.until("completed")
    assert await asked(turn) == []
    [(_, outcome, said)] = await results(turn)
    assert outcome == "error"
    assert "was not made" in said
