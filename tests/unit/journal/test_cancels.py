"""Cancels of every kind, and what they leave behind."""

import pytest

from tests.unit.journal.agent import asking
from tests.unit.journal.scene import Scene, call, must, refused
from turnwright.journal.entries import ToolFinished, ToolLate, TurnCancelled
from turnwright.journal.facts import Facts
from turnwright.journal.messages import Text
from turnwright.journal.settle import settle


def results(scene: Scene) -> list[str]:
    return [r.outcome for message in scene.machine.state.context for r in message.results]


def test_a_cancel_between_the_last_answer_and_the_end_wins() -> None:
    scene = Scene().thinking()
    older = scene.machine.control.epoch
    must(scene.claim())
    must(scene.respond_model(epoch=older))
    assert must(scene.cancel()).types == ["turn.cancel_requested", "turn.cancelled"]


def test_an_answer_that_comes_while_cancelling_is_kept_and_its_calls_never_run() -> None:
    scene = Scene().thinking()
    must(scene.cancel())
    step = must(scene.respond_model(call("send")))
    assert step.types == ["model.responded", "tool.decided", "tool.finished", "turn.cancelled"]
    assert results(scene) == ["interrupted"]


def test_a_cancel_in_the_middle_of_streamed_text_keeps_and_marks_the_partial_answer() -> None:
    scene = Scene().thinking()
    must(scene.cancel())
    must(scene.interrupt_model("cancelled", Text(text="half an ans"), call("send")))
    last = scene.machine.state.context[-1]
    assert (last.text, last.metadata, last.calls) == ("half an ans", {"interrupted": True}, ())


def test_an_attempt_that_is_cancelled_although_its_turn_is_not_leaves_nothing_in_the_conversation() -> None:
    scene = Scene().thinking()
    must(scene.interrupt_model("cancelled", Text(text="half an ans")))
    assert [message.role for message in scene.machine.state.context] == ["user"]
    must(scene.request())


def test_a_second_cancel_is_accepted_without_effect() -> None:
    scene = Scene().thinking()
    must(scene.cancel())
    assert must(scene.cancel()).types == []
    assert must(scene.cancel_thread()).types == []


def test_a_cancel_with_an_open_approval_closes_it_and_answers_its_call() -> None:
    scene = Scene(agent=asking("send"))
    scene.calling("send")
    step = must(scene.cancel())
    assert step.types == ["turn.cancel_requested", "tool.finished", "interaction.resolved", "turn.cancelled"]
    scene.thinking()


def test_a_cancel_while_a_once_calls_outcome_is_unknown_says_so_and_a_late_result_changes_nothing() -> None:
    scene = Scene()
    call_id = scene.unknown()
    must(scene.cancel())
    ended = scene.machine.entries[-1].payload
    assert isinstance(ended, TurnCancelled)
    assert ended.effects_unknown == scene.status.effects_unknown
    assert "send" in (ended.effects_unknown or "")
    assert results(scene) == ["unknown"]
    context = scene.machine.state.context
    step = must(scene.finish(call_id, step=1))
    assert [type(e.payload) for e in step.entries] == [ToolLate]
    assert scene.machine.state.context == context


def test_a_tool_that_ignores_the_cancel_is_closed_as_interrupted_and_the_turn_says_its_effect_is_unknown() -> None:
    scene = Scene()
    (call_id,) = scene.calling("send")
    must(scene.start(call_id))
    must(scene.cancel())
    must(scene.finish(call_id, "interrupted", effect_unknown=True))
    closed = next(e.payload for e in scene.machine.entries if isinstance(e.payload, ToolFinished))
    assert (closed.outcome, closed.effect_unknown) == ("interrupted", True)
    assert scene.status.code == "cancelled_by_turn"
    assert "send" in (scene.status.effects_unknown or "")


def test_a_result_that_comes_before_the_cancel_took_effect_is_applied() -> None:
    scene = Scene()
    (call_id,) = scene.calling("send")
    must(scene.start(call_id))
    must(scene.cancel())
    must(scene.finish(call_id))
    assert (results(scene), scene.status.phase, scene.status.message) == (["success"], "cancelled", None)


def test_a_cancel_takes_effect_when_the_worker_turns_out_to_be_dead() -> None:
    scene = Scene().thinking()
    must(scene.cancel())
    scene.machine.dead.add(scene.worker)
    must(scene.submit("next"))
    assert scene.types()[-3:] == ["model.interrupted", "turn.queued", "turn.cancelled"]
    must(scene.claim())


def test_interrupt_cancels_the_active_turn_and_goes_to_the_head_in_one_transaction() -> None:
    scene = Scene().running()
    first = scene.turn
    must(scene.submit("waits"))
    step = must(scene.submit("urgent", if_busy="interrupt"))
    assert step.types == ["turn.cancel_requested", "turn.queued", "input.discarded", "turn.cancelled"]
    assert scene.machine.turns[first].code == "cancelled_by_interrupt"
    assert scene.machine.queue[0].turn_id == scene.turn
    must(scene.claim())


def test_an_interrupting_turn_waits_for_the_running_operation_of_the_one_it_cancels() -> None:
    scene = Scene().thinking()
    must(scene.submit("urgent", if_busy="interrupt"))
    assert refused(scene.claim()) == "not_startable"
    scene.turn, urgent = next(t for t, s in scene.machine.turns.items() if s.phase == "cancelling"), scene.turn
    must(scene.interrupt_model("cancelled"))
    must(scene.claim(turn=urgent))


def test_cancelling_a_thread_cancels_the_active_turn_and_the_whole_queue() -> None:
    scene = Scene().thinking()
    for _ in range(3):
        must(scene.submit())
    must(scene.cancel_thread())
    phases = sorted(turn.phase for turn in scene.machine.turns.values())
    assert phases == ["cancelled", "cancelled", "cancelled", "cancelling"]
    assert scene.machine.control.queued == 0


def test_cancelling_a_thread_that_has_nothing_to_cancel_says_so() -> None:
    scene = Scene()
    assert refused(scene.cancel_thread()) == "nothing_to_cancel"


@pytest.mark.parametrize("started", [False, True])
def test_a_sessions_cancel_reaches_what_was_queued_before_it_and_nothing_after(started: bool) -> None:
    scene = Scene()
    must(scene.submit("before"))
    before = scene.turn
    if started:
        must(scene.claim())
    scene.cancel_session()
    must(scene.submit("after"))
    assert scene.machine.turns[before].code == "cancelled_by_session"
    assert scene.machine.turns[scene.turn].phase == "queued"
    must(scene.claim())


def test_a_command_for_a_turn_that_the_session_cancelled_finds_it_cancelled() -> None:
    scene = Scene()
    must(scene.submit())
    scene.cancel_session()
    step = scene.pause()
    assert refused(step) == "wrong_phase"
    assert [entry.type for entry in step.settled] == ["turn.cancelled", "input.discarded"]


def test_a_front_that_the_session_cancelled_is_settled_even_when_the_queue_was_not_read() -> None:
    scene = Scene()
    must(scene.submit())
    scene.cancel_session()
    facts = Facts(now_us=scene.machine.now_us, front=scene.status)
    settled = settle(scene.machine.control, scene.machine.session, facts)
    assert [draft.type for draft in settled] == ["turn.cancelled", "input.discarded"]


def test_a_front_that_the_session_cancelled_is_never_started() -> None:
    scene = Scene()
    must(scene.submit())
    scene.cancel_session()
    assert refused(scene.claim()) == "not_startable"
    assert scene.status.phase == "cancelled"
