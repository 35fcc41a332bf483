"""Pauses of a turn, its thread and its session, alone and together."""

import pytest

from tests.unit.journal.agent import asking
from tests.unit.journal.scene import Scene, call, must, refused
from turnwright.journal.actions import Park, Work
from turnwright.journal.messages import Text


def waiting() -> Scene:
    scene = Scene(agent=asking("send"))
    scene.calling("send")
    return scene


def test_a_pause_during_an_operation_takes_effect_at_its_end_and_nothing_new_starts() -> None:
    scene = Scene().thinking()
    assert must(scene.pause()).types == ["turn.pause_requested"]
    step = must(scene.respond_model(call("look")))
    assert step.types == ["model.responded", "tool.decided", "turn.paused"]
    assert step.action == Park("paused")
    assert refused(scene.start(scene.calls[0].call_id)) == "not_due"


def test_pause_resume_and_pause_within_one_step_are_all_recorded_and_the_last_takes_effect() -> None:
    scene = Scene().thinking()
    must(scene.pause())
    must(scene.resume())
    must(scene.pause())
    must(scene.respond_model(call("look")))
    kept = [t for t in scene.types(scene.turn) if t in ("turn.pause_requested", "turn.paused", "turn.resumed")]
    assert kept == ["turn.pause_requested", "turn.resumed", "turn.pause_requested", "turn.paused"]
    assert (scene.status.pause, scene.status.revision) == ("effective", 6)


def test_a_resume_with_the_revision_from_before_the_pause_took_effect_is_stale() -> None:
    scene = Scene().thinking()
    must(scene.pause())
    asked = scene.status.revision
    must(scene.respond_model(call("look")))
    assert refused(scene.resume(asked)) == "stale_revision"
    must(scene.resume())


def test_a_turn_that_finishes_in_the_call_during_which_it_was_paused_is_completed() -> None:
    scene = Scene().thinking()
    must(scene.pause())
    assert must(scene.respond_model()).types[-1] == "turn.completed"
    assert (scene.status.phase, scene.status.pause) == ("completed", "none")


def test_a_pause_holds_back_the_calls_of_a_step_that_have_not_started() -> None:
    scene = Scene()
    first, second = scene.calling("look", "look")
    must(scene.start(first))
    must(scene.pause())
    assert refused(scene.start(second)) == "not_due"
    assert must(scene.finish(first)).types == ["tool.finished", "turn.paused"]
    must(scene.resume())
    must(scene.start(second))


def test_a_paused_head_blocks_the_queue_until_it_is_resumed_or_cancelled() -> None:
    scene = Scene()
    must(scene.submit())
    head = scene.turn
    must(scene.pause())
    must(scene.submit("next"))
    assert refused(scene.claim()) == "not_startable"
    assert refused(scene.claim(turn=head)) == "not_startable"
    scene.turn, following = head, scene.turn
    must(scene.cancel())
    must(scene.claim(turn=following))


@pytest.mark.parametrize("level", ["thread", "session"])
def test_a_pause_of_thread_or_session_starts_nothing_and_leaves_the_turns_own_fields_alone(level: str) -> None:
    scene = Scene().thinking()
    before = scene.status
    if level == "thread":
        must(scene.pause_thread())
    else:
        scene.pause_session()
    step = must(scene.respond_model(call("look")))
    assert step.action == Park("thread_paused" if level == "thread" else "session_paused")
    assert (scene.status.revision, scene.status.pause) == (before.revision, "none")
    assert refused(scene.pause_thread() if level == "thread" else scene.resume()) in ("already_paused", "not_paused")


def test_resuming_one_level_starts_nothing_while_another_is_set() -> None:
    scene = Scene().running()
    must(scene.pause())
    must(scene.pause_thread())
    scene.pause_session()
    must(scene.resume())
    assert must(scene.look()).action == Park("thread_paused")
    must(scene.resume_thread())
    assert must(scene.look()).action == Park("session_paused")
    scene.resume_session()
    assert isinstance(must(scene.look()).action, Work)


def test_each_flag_has_its_own_revision() -> None:
    scene = Scene().running()
    must(scene.pause_thread())
    assert refused(scene.resume_thread(0)) == "stale_revision"
    must(scene.resume_thread(1))
    assert scene.machine.control.pause.revision == 2
    assert refused(scene.resume_thread(2)) == "not_paused"
    assert scene.status.revision == 2


def test_cancel_clears_the_turns_own_pause_and_goes_on_under_any_other() -> None:
    scene = Scene().thinking()
    must(scene.pause())
    must(scene.pause_thread())
    scene.pause_session()
    must(scene.cancel())
    assert (scene.status.phase, scene.status.pause) == ("cancelling", "none")
    must(scene.interrupt_model("cancelled"))
    assert scene.status.phase == "cancelled"


def test_a_pause_while_waiting_keeps_the_question_and_an_answer_is_saved_until_the_resume() -> None:
    scene = waiting()
    must(scene.pause())
    must(scene.respond())
    assert (scene.status.phase, scene.status.pause) == ("waiting", "effective")
    assert must(scene.resume()).types == ["turn.resumed", "turn.continued"]
    must(scene.start(scene.calls[0].call_id))


def test_a_pause_of_the_thread_while_waiting_holds_the_answered_turn_until_the_thread_goes_on() -> None:
    scene = waiting()
    must(scene.pause_thread())
    must(scene.respond())
    assert scene.status.phase == "waiting"
    assert must(scene.resume_thread()).types == ["thread.resumed", "turn.continued"]


def test_wake_ups_of_a_parked_turn_are_no_runs_without_progress() -> None:
    scene = Scene().running()
    must(scene.pause())
    epoch = scene.machine.control.epoch
    for _ in range(20):
        assert refused(scene.claim()) == "parked"
    assert scene.machine.control.epoch == epoch
    must(scene.resume())
    must(scene.claim())
    assert scene.status.phase == "running"


def test_an_answer_of_an_abandoned_attempt_still_ends_a_turn_that_was_paused_meanwhile() -> None:
    scene = Scene().thinking()
    must(scene.pause())
    scene.machine.dead.add(scene.worker)
    must(scene.look())
    assert scene.status.pause == "effective"
    assert must(scene.respond_model(Text(text="done"))).types[-1] == "turn.completed"
