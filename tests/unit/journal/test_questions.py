"""Questions: nothing of a step runs before its answers, answers reach their own calls, deadlines pass."""

import pytest

from tests.unit.journal.agent import asking, definition, may
from tests.unit.journal.scene import Scene, call, must, refused
from turnwright.journal.actions import Park, ToolOp, Work
from turnwright.journal.messages import Text
from turnwright.journal.view import DENIED_VIEW, request_messages


def told(scene: Scene) -> str:
    """What the next request says of the only call's result."""
    (result,) = [r for message in request_messages(scene.machine.state) for r in message.results]
    return " ".join(block.text for block in result.output if isinstance(block, Text))


def test_nothing_of_a_step_runs_before_every_question_of_it_is_answered() -> None:
    scene = Scene(agent=asking("send"))
    reading, sending = scene.calling("look", "send")
    assert scene.status.phase == "waiting"
    assert refused(scene.start(reading)) == "not_due"
    must(scene.respond("approve"))
    assert must(scene.look()).action == Work((ToolOp(1, reading, 1), ToolOp(1, sending, 1)))


def test_two_questions_answered_in_reverse_order_reach_their_own_calls() -> None:
    scene = Scene(agent=asking("send", "put"))
    sending, putting = scene.calling("send", "put")
    first, second = (question.interaction_id for question in scene.questions)
    must(scene.respond("deny", question=second))
    assert scene.status.phase == "waiting"
    must(scene.respond("approve", question=first))
    assert {c.call_id: c.state for c in scene.calls} == {sending: "ready", putting: "closed"}
    assert scene.results == [("put", "denied")]


@pytest.mark.parametrize("kind", ["approval", "form"])
def test_an_answer_given_while_the_turn_is_paused_is_saved_and_the_resume_goes_on_with_it(kind: str) -> None:
    scene = Scene(agent=asking("send")) if kind == "approval" else Scene()
    if kind == "approval":
        scene.calling("send")
    else:
        scene.deferred()
    must(scene.pause())
    step = must(scene.respond("approve" if kind == "approval" else "answer"))
    assert step.types[0] == "interaction.resolved"
    assert step.action == Park("paused")
    assert scene.status.phase == "waiting"
    assert must(scene.resume()).types == ["turn.resumed", "turn.continued"]
    assert isinstance(must(scene.look()).action, Work)


def test_an_answer_is_taken_once_and_the_second_hears_who_gave_the_first() -> None:
    scene = Scene(agent=asking("send"))
    scene.calling("send")
    asked = scene.questions[0].interaction_id
    must(scene.respond("approve", question=asked, principal="bea"))
    second = scene.respond("deny", question=asked)
    assert refused(second) == "already_answered"
    assert second.rejection is not None
    assert "by bea: approve" in second.rejection.reason


@pytest.mark.parametrize("ends", ["completed", "failed", "cancelled", "cancelling"])
def test_who_answers_after_the_end_of_the_turn_hears_who_was_first(ends: str) -> None:
    scene = Scene(agent=asking("send"))
    scene.calling("send")
    asked = scene.questions[0].interaction_id
    must(scene.respond("deny", question=asked, principal="bea"))
    end(scene, ends)
    second = scene.respond("approve", question=asked)
    assert refused(second) == "already_answered"
    assert second.rejection is not None
    assert f"{asked} was settled already by bea: deny" in second.rejection.reason
    assert refused(scene.respond("approve", question="q-none")) == "wrong_phase"


@pytest.mark.parametrize("ends", ["completed", "failed", "cancelled", "cancelling"])
def test_who_answers_too_late_hears_it_also_after_the_end_of_the_turn(ends: str) -> None:
    scene = Scene(agent=asking("send", deadline_s=60))
    scene.calling("send")
    asked = scene.questions[0].interaction_id
    scene.wait(61)
    must(scene.look())
    end(scene, ends)
    assert refused(scene.respond("approve", question=asked)) == "expired"


def end(scene: Scene, how: str) -> None:
    """Let the turn's next model call, its end or its cancel bring it there."""
    if how == "cancelled":
        must(scene.cancel())
    else:
        must(scene.request())
    match how:
        case "completed":
            must(scene.respond_model())
        case "failed":
            must(scene.fail_model("invalid"))
        case "cancelling":
            must(scene.cancel())
    assert scene.status.phase == how


def test_the_same_answer_under_the_same_request_is_one_answer() -> None:
    scene = Scene(agent=asking("send"))
    scene.calling("send")
    must(scene.respond("approve"))
    (said,) = [command for command in scene.machine.requests.values() if command.request_id.startswith("respond")]
    assert scene.run(said).duplicate


def test_an_approval_that_expires_answers_the_call_and_is_no_denial() -> None:
    scene = Scene(agent=asking("send", deadline_s=60))
    scene.calling("send")
    asked = scene.questions[0].interaction_id
    scene.wait(61)
    step = scene.respond("approve", question=asked)
    assert refused(step) == "expired"
    assert step.types == ["interaction.expired", "tool.finished", "turn.continued"]
    assert scene.results == [("send", "error")]
    assert "Nobody answered" in told(scene)
    must(scene.request())


def test_an_answer_long_after_the_deadline_hears_that_it_was_too_late() -> None:
    scene = Scene(agent=asking("send", deadline_s=60))
    scene.calling("send")
    asked = scene.questions[0].interaction_id
    scene.wait(61)
    must(scene.look())
    assert refused(scene.respond("approve", question=asked)) == "expired"


def test_an_answer_at_the_last_moment_wins_and_one_at_the_deadline_does_not() -> None:
    for seconds, code in ((59.999_999, None), (60, "expired")):
        scene = Scene(agent=asking("send", deadline_s=60))
        scene.calling("send")
        asked = scene.questions[0].interaction_id
        scene.wait(seconds)
        step = scene.respond("approve", question=asked)
        assert (step.rejection.code if step.rejection else None) == code


def test_a_deadline_may_mean_approval_of_what_was_asked() -> None:
    scene = Scene(agent=asking("send", deadline_s=60, on_expiry="approve"))
    (call_id,) = scene.calling(call("send", to="bea"))
    scene.wait(61)
    assert must(scene.look()).types == ["interaction.expired", "tool.decided", "turn.continued"]
    must(scene.start(call_id))


def test_a_deadline_that_approves_approves_no_other_arguments() -> None:
    scene = Scene(agent=asking("send", deadline_s=60, on_expiry="approve"))
    (call_id,) = scene.calling(call("send", to="bea"))
    scene.wait(61)
    must(scene.look())
    assert must(scene.start(call_id, arguments={"to": "eve"})).types[:2] == ["tool.decided", "interaction.requested"]


@pytest.mark.parametrize("kind", ["form", "external"])
def test_a_question_of_a_tool_that_expires_is_an_error_of_its_call(kind: str) -> None:
    scene = Scene()
    (call_id,) = scene.calling("send")
    must(scene.start(call_id))
    must(scene.ask(call_id, "form" if kind == "form" else "external", deadline_s=60))
    asked = scene.questions[0].interaction_id
    assert scene.machine.asked[asked].on_expiry == "expired"
    scene.wait(61)
    step = scene.respond("answer" if kind == "form" else "succeeded", question=asked)
    assert refused(step) == "expired"
    assert scene.results == [("send", "error")]
    assert told(scene) == "No answer came in time."
    must(scene.request())


def test_a_deadline_runs_during_a_pause_and_its_outcome_waits_for_the_resume() -> None:
    scene = Scene(agent=asking("send", deadline_s=60))
    scene.calling("send")
    must(scene.pause())
    scene.wait(61)
    step = must(scene.look())
    assert step.types == ["interaction.expired", "tool.finished"]
    assert step.action == Park("paused")
    assert must(scene.resume()).types == ["turn.resumed", "turn.continued"]


def test_no_deadline_no_timeout_however_long_a_turn_waits() -> None:
    scene = Scene(agent=asking("send"))
    scene.calling("send")
    scene.wait(3 * 24 * 3_600)
    assert must(scene.look()).action == Park("waiting")
    must(scene.respond())
    must(scene.start(scene.calls[0].call_id))


def test_a_denial_by_a_rule_is_told_otherwise_than_the_choice_of_a_person() -> None:
    by_rule = Scene(agent=definition(may(deny=("send",))))
    by_rule.calling("send")
    by_person = Scene(agent=asking("send"))
    by_person.calling("send")
    must(by_person.respond("deny", message="Not to her."))
    assert by_rule.results == by_person.results == [("send", "denied")]
    assert DENIED_VIEW in told(by_person)
    assert "Not to her." in told(by_person)
    assert DENIED_VIEW not in told(by_rule)
    assert "rule:deny send" in told(by_rule)


def test_a_question_of_an_ended_turn_is_told_apart_from_one_that_never_was() -> None:
    scene = Scene(agent=asking("send"))
    scene.calling("send")
    asked = scene.questions[0].interaction_id
    must(scene.cancel())
    earlier = scene.turn
    scene.calling("send")
    assert refused(scene.respond(question=asked)) == "unknown_interaction"
    scene.turn = earlier
    assert refused(scene.respond(question=asked)) == "wrong_phase"
    assert scene.machine.questions[asked].state == "cancelled"
