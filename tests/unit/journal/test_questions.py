"""Questions: nothing of a step runs before its answers, answers reach their own calls, deadlines pass."""

from tests.unit.journal import policies
from tests.unit.journal.scene import Scene, must, refused
from turnwright.journal.actions import Park, ToolOp, Work


def results(scene: Scene) -> list[tuple[str, str]]:
    return [(r.name, r.outcome) for message in scene.machine.state.context for r in message.results]


def test_nothing_of_a_step_runs_before_every_question_of_it_is_answered() -> None:
    scene = Scene()
    scene.machine.policy = policies.asking("send")
    reading, asking = scene.calling("look", "send")
    assert scene.status.phase == "waiting"
    assert refused(scene.start(reading)) == "not_due"
    must(scene.respond("approve"))
    assert must(scene.look()).action == Work((ToolOp(1, reading, 1), ToolOp(1, asking, 1)))


def test_two_questions_answered_in_reverse_order_reach_their_own_calls() -> None:
    scene = Scene()
    scene.machine.policy = policies.asking("send", "put")
    sending, putting = scene.calling("send", "put")
    questions = [question.interaction_id for question in scene.active.interactions]
    must(scene.respond("deny", question=questions[1]))
    assert scene.status.phase == "waiting"
    must(scene.respond("approve", question=questions[0]))
    assert {c.call_id: c.state for c in scene.calls} == {sending: "ready", putting: "closed"}
    assert results(scene) == [("put", "denied")]


def test_an_answer_is_taken_once() -> None:
    scene = Scene()
    scene.machine.policy = policies.asking("send")
    scene.calling("send")
    asked = scene.active.interactions[0].interaction_id
    must(scene.respond("approve", question=asked))
    assert refused(scene.respond("deny", question=asked)) == "not_open"


def test_an_approval_that_expires_answers_the_call_and_is_no_denial() -> None:
    scene = Scene()
    scene.machine.policy = policies.asking("send", deadline_s=60)
    scene.calling("send")
    asked = scene.active.interactions[0].interaction_id
    scene.wait(61)
    step = scene.respond("approve", question=asked)
    assert refused(step) == "not_open"
    assert step.types == ["interaction.expired", "tool.finished", "turn.continued"]
    assert results(scene) == [("send", "error")]
    must(scene.request())


def test_a_deadline_may_mean_approval() -> None:
    scene = Scene()
    scene.machine.policy = policies.asking("send", deadline_s=60, on_expiry="approve")
    (call_id,) = scene.calling("send")
    scene.wait(61)
    must(scene.look())
    must(scene.start(call_id))


def test_a_deadline_runs_during_a_pause_and_its_outcome_waits_for_the_resume() -> None:
    scene = Scene()
    scene.machine.policy = policies.asking("send", kind="form", deadline_s=60)
    scene.calling("send")
    must(scene.pause())
    scene.wait(61)
    step = must(scene.look())
    assert step.types == ["interaction.expired", "tool.finished"]
    assert step.action == Park("paused")
    assert must(scene.resume()).types == ["turn.resumed", "turn.continued"]


def test_a_form_is_the_result_of_its_call() -> None:
    scene = Scene()
    scene.machine.policy = policies.asking("send", kind="form")
    scene.calling("send")
    must(scene.respond("submitted"))
    assert results(scene) == [("send", "success")]


def test_no_deadline_no_timeout_however_long_a_turn_waits() -> None:
    scene = Scene()
    scene.machine.policy = policies.asking("send")
    scene.calling("send")
    scene.wait(3 * 24 * 3_600)
    assert must(scene.look()).action == Park("waiting")
    must(scene.respond())
    must(scene.start(scene.calls[0].call_id))
