"""Input that comes while a turn is queued, running, waiting, ending or gone."""

from tests.unit.journal.scene import Scene, call, must, refused
from turnwright.journal.actions import ModelOp, Work
from turnwright.journal.entries import InputApplied, InputDiscarded
from turnwright.journal.messages import Text


def said(scene: Scene) -> list[str]:
    """What the model has been sent, in words."""
    return [message.text for message in scene.machine.state.context]


def test_a_steer_of_a_queued_turn_joins_its_input_in_order() -> None:
    scene = Scene()
    must(scene.submit("first"))
    must(scene.steer("second"))
    must(scene.claim())
    must(scene.request())
    assert said(scene) == ["first", "second"]


def test_a_steer_is_seen_by_the_next_model_call_and_not_by_the_one_that_runs() -> None:
    scene = Scene().thinking()
    must(scene.steer("and this"))
    assert said(scene) == ["task"]
    must(scene.respond_model(call("look")))
    (only,) = scene.calls
    must(scene.start(only.call_id))
    must(scene.finish(only.call_id))
    must(scene.request())
    assert said(scene)[-1] == "and this"


def test_a_steer_during_the_last_call_forces_one_more_step() -> None:
    scene = Scene().thinking()
    must(scene.steer("one more thing"))
    step = must(scene.respond_model())
    assert step.types == ["model.responded"]
    assert step.action == Work((ModelOp(2, 1),))
    must(scene.request())
    must(scene.respond_model())
    assert scene.status.phase == "completed"


def test_a_steer_between_the_last_answer_and_the_end_counts() -> None:
    scene = Scene().thinking()
    older = scene.machine.control.epoch
    must(scene.claim())
    must(scene.respond_model(epoch=older))
    assert scene.status.phase == "running"
    must(scene.steer("wait"))
    assert must(scene.look()).action == Work((ModelOp(2, 1),))


def test_a_steer_of_a_paused_or_waiting_turn_is_applied_when_it_goes_on() -> None:
    scene = Scene()
    call_id = scene.unknown()
    must(scene.steer("while waiting"))
    must(scene.pause())
    must(scene.steer("while paused"))
    must(scene.resume())
    must(scene.reconcile(call_id, "failed"))
    must(scene.request())
    assert said(scene)[-2:] == ["while waiting", "while paused"]


def test_a_steer_arrives_with_the_second_attempt_of_the_same_step() -> None:
    scene = Scene().thinking()
    must(scene.steer("late news"))
    must(scene.fail_model("transient"))
    scene.wait(60)
    must(scene.request())
    assert said(scene) == ["task", "late news"]


def test_injected_material_waits_for_whatever_runs_next_and_starts_nothing() -> None:
    scene = Scene()
    must(scene.inject("background"))
    assert scene.machine.control.active is None
    scene.thinking()
    assert said(scene) == ["background", "task"]
    must(scene.inject("for the next turn"))
    must(scene.respond_model())
    assert scene.status.phase == "completed"
    assert [item.message.text for item in scene.machine.state.inbox] == ["for the next turn"]


def test_material_that_comes_within_a_turn_is_seen_by_its_next_call() -> None:
    scene = Scene().thinking()
    must(scene.inject("news"))
    must(scene.respond_model(call("no such tool")))
    must(scene.request())
    assert said(scene)[-1] == "news"
    assert scene.machine.control.injected == 0


def test_a_turns_call_is_not_shown_the_input_of_the_turns_behind_it() -> None:
    scene = Scene()
    must(scene.submit("first"))
    first = scene.turn
    must(scene.submit("second"))
    scene.turn = first
    must(scene.claim())
    must(scene.request())
    assert said(scene) == ["first"]


def test_input_of_a_cancelled_turn_is_discarded_with_the_reason_and_other_turns_keep_theirs() -> None:
    scene = Scene()
    must(scene.submit("gone"))
    gone = scene.turn
    must(scene.steer("gone too"))
    must(scene.submit("kept"))
    scene.turn = gone
    must(scene.cancel())
    (discarded,) = [e.payload for e in scene.machine.entries if isinstance(e.payload, InputDiscarded)]
    assert discarded.why == "cancelled by turn"
    assert [item.message.text for item in scene.machine.state.inbox] == ["kept"]


def test_a_turn_that_ended_takes_no_more_input() -> None:
    scene = Scene().thinking()
    must(scene.cancel())
    assert refused(scene.steer()) == "wrong_phase"
    must(scene.interrupt_model("cancelled", Text(text="so f")))
    assert refused(scene.steer()) == "wrong_phase"


def test_input_is_applied_in_the_batch_of_the_request_that_holds_it() -> None:
    scene = Scene().running()
    must(scene.steer())
    step = must(scene.request())
    assert step.types == ["input.applied", "model.requested"]
    applied = step.decided[0].payload
    assert isinstance(applied, InputApplied)
    assert applied.through_seq == step.decided[0].seq - 1
