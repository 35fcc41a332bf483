"""Turns that fail, and turns that are tried again."""

from tests.unit.journal.scene import Scene, call, definition, must, refused
from turnwright.journal.commands import CloseSession, CloseThread
from turnwright.journal.entries import InputDiscarded, ThreadPaused, TurnFailed
from turnwright.journal.plan import ATTEMPTS_LOST_MAX, RUNS_WITHOUT_PROGRESS_MAX


def discarded(scene: Scene) -> list[tuple[str | None, str]]:
    return [(e.turn_id, e.payload.why) for e in scene.machine.entries if isinstance(e.payload, InputDiscarded)]


def context(scene: Scene) -> list[str]:
    return [message.text for message in scene.machine.state.context]


def worn_out() -> Scene:
    """A turn that failed because nobody could run it, before any model saw its input."""
    scene = Scene()
    must(scene.submit("do it"))
    must(scene.steer("and that"))
    for _ in range(RUNS_WITHOUT_PROGRESS_MAX + 1):
        must(scene.claim())
    assert (scene.status.phase, scene.status.code) == ("failed", "internal")
    return scene


def test_a_failed_turn_has_a_code_a_message_and_says_whether_a_retry_makes_sense() -> None:
    scene = Scene().failed("auth")
    assert (scene.status.code, scene.status.retryable) == ("model_error", True)
    assert "auth" in (scene.status.message or "")
    scene = Scene().failed("refused")
    assert scene.status.retryable is False


def test_after_a_failure_the_queue_goes_on() -> None:
    scene = Scene().failed()
    must(scene.submit())
    must(scene.claim())


def test_a_thread_that_holds_on_failure_is_paused_by_it_and_goes_on_when_it_is_resumed() -> None:
    scene = Scene()
    must(scene.submit("first", on_failure="hold"))
    must(scene.claim())
    must(scene.request())
    step = must(scene.fail_model("auth"))
    assert step.types == ["model.failed", "turn.failed", "thread.paused"]
    payload = step.entries[-1].payload
    assert isinstance(payload, ThreadPaused)
    assert payload.source == "on_failure"
    must(scene.submit("second"))
    assert refused(scene.claim()) == "not_startable"
    must(scene.resume_thread())
    must(scene.claim())


def test_a_thread_that_a_person_paused_already_is_not_paused_again_by_a_failure() -> None:
    scene = Scene()
    must(scene.submit(on_failure="hold"))
    must(scene.claim())
    must(scene.request())
    must(scene.pause_thread())
    assert must(scene.fail_model("auth")).types == ["model.failed", "turn.failed"]
    assert scene.machine.control.pause.source == "command"


def test_a_retry_lifts_the_pause_of_the_failure_and_goes_before_the_queue() -> None:
    scene = Scene()
    must(scene.submit("first", on_failure="hold"))
    failed = scene.turn
    must(scene.claim())
    must(scene.request())
    must(scene.fail_model("auth"))
    must(scene.submit("second"))
    scene.turn = failed
    assert must(scene.retry()).types == ["turn.retried", "thread.resumed"]
    assert scene.machine.queue[0].turn_id == failed
    must(scene.claim())


def test_a_retry_leaves_a_pause_that_a_person_set() -> None:
    scene = Scene().failed()
    must(scene.pause_thread())
    assert must(scene.retry()).types == ["turn.retried"]
    assert scene.machine.control.pause.on


def test_a_retry_after_a_later_turn_started_is_refused_even_when_that_one_is_over() -> None:
    scene = Scene().failed()
    failed = scene.turn
    scene.running()
    must(scene.cancel())
    scene.turn = failed
    assert refused(scene.retry()) == "later_turn_started"


def test_a_retry_is_possible_while_a_later_turn_is_only_queued_or_was_cancelled_in_the_queue() -> None:
    scene = Scene().failed()
    failed = scene.turn
    must(scene.submit())
    must(scene.cancel())
    must(scene.submit())
    scene.turn = failed
    must(scene.retry())


def test_steps_and_entry_ids_of_a_retried_turn_go_on_where_the_first_start_ended() -> None:
    scene = Scene().failed()
    must(scene.retry())
    must(scene.claim())
    must(scene.request())
    assert scene.active.step == 2
    must(scene.respond_model(step=2))
    ids = [entry.entry_id for entry in scene.machine.entries]
    assert len(set(ids)) == len(ids)
    assert scene.status.phase == "completed"


def test_what_an_attempt_of_the_first_start_brings_after_the_retry_is_late() -> None:
    scene = Scene()
    (call_id,) = scene.calling("look")
    must(scene.start(call_id))
    must(scene.finish(call_id))
    must(scene.request())
    must(scene.fail_model("auth"))
    must(scene.retry())
    must(scene.claim())
    assert must(scene.respond_model(call("send"), step=2)).types == ["model.late"]
    assert must(scene.finish(call_id, step=1)).types == []
    assert must(scene.finish(call_id, step=1, ordinal=2)).types == ["tool.late"]


def test_a_thread_is_opened_once_however_often_its_turns_start() -> None:
    scene = Scene().failed()
    must(scene.retry())
    must(scene.claim())
    assert scene.types().count("thread.opened") == 1
    assert scene.types().count("turn.started") == 2


def test_a_retried_turn_still_has_what_it_was_given() -> None:
    scene = worn_out()
    assert discarded(scene) == []
    must(scene.retry())
    must(scene.claim())
    must(scene.request())
    assert context(scene) == ["do it", "and that"]


def test_what_a_failed_turn_was_given_is_discarded_when_a_later_turn_starts() -> None:
    scene = worn_out()
    failed = scene.turn
    must(scene.submit("something else"))
    must(scene.claim())
    assert discarded(scene) == [(failed, "a later turn started")]
    must(scene.request())
    assert context(scene) == ["something else"]


def test_what_a_failed_turn_was_given_is_discarded_when_the_thread_or_session_closes() -> None:
    scene = worn_out()
    must(scene.run(CloseThread(request_id="close")))
    must(scene.pause_thread())
    assert discarded(scene) == [(scene.turn, "the thread was closed")]
    scene = worn_out()
    assert scene.machine.run_session(CloseSession(request_id="close")) is None
    assert refused(scene.retry()) == "closed"
    assert discarded(scene) == [(scene.turn, "closed")]


def test_a_retry_after_a_sessions_cancel_is_not_cancelled_by_it() -> None:
    scene = Scene().failed()
    scene.cancel_session()
    must(scene.retry())
    must(scene.claim())
    must(scene.request())
    scene.cancel_session()
    assert must(scene.look()).types == ["turn.cancel_requested"]


def test_a_retried_turn_shows_nothing_of_its_failure_any_more() -> None:
    scene = Scene().failed()
    must(scene.retry())
    status = scene.status
    assert (status.code, status.message, status.retryable, status.ended_at_us) == (None, None, False, None)


def test_a_retried_turn_has_the_whole_budget_of_steps_again() -> None:
    scene = Scene(agent=definition(max_steps=1)).thinking()
    must(scene.respond_model(call("nothing like it")))
    assert scene.status.code == "max_steps"
    must(scene.retry())
    must(scene.claim())
    must(scene.request())
    must(scene.respond_model())
    assert scene.status.phase == "completed"


def test_five_runs_without_progress_fail_the_turn_at_the_next() -> None:
    scene = Scene().thinking()
    for _ in range(RUNS_WITHOUT_PROGRESS_MAX - 1):
        scene.machine.dead.add(scene.worker)
        scene.worker = scene.next_id("w")
        must(scene.claim())
        must(scene.request())
    scene.machine.dead.add(scene.worker)
    assert must(scene.claim()).types[-1] == "turn.failed"
    failed = scene.machine.entries[-1].payload
    assert isinstance(failed, TurnFailed)
    assert failed.code == "internal"


def test_any_progress_forgives_the_runs_before_it() -> None:
    scene = Scene().running()
    for _ in range(RUNS_WITHOUT_PROGRESS_MAX - 1):
        must(scene.claim())
    must(scene.request())
    must(scene.respond_model(call("look")))
    for _ in range(RUNS_WITHOUT_PROGRESS_MAX):
        must(scene.claim())
    assert scene.status.phase == "running"


def test_runs_that_come_while_an_operation_lives_fail_nothing() -> None:
    scene = Scene()
    (call_id,) = scene.calling("send")
    must(scene.start(call_id))
    for _ in range(3 * RUNS_WITHOUT_PROGRESS_MAX):
        must(scene.claim())
    assert scene.status.phase == "running"
    must(scene.finish(call_id))
    must(scene.request())


def test_attempts_that_are_lost_again_and_again_fail_the_turn() -> None:
    scene = Scene().running()
    for _ in range(ATTEMPTS_LOST_MAX):
        must(scene.request())
        scene.machine.dead.add(scene.worker)
        scene.worker = scene.next_id("w")
        must(scene.look())
    assert scene.status.code == "internal"


def test_a_failing_turn_waits_for_a_sibling_that_still_runs_and_starts_nothing_more() -> None:
    scene = Scene(agent=definition(tool_time_s=1))
    first, second, third = scene.calling("look", "look", "look")
    must(scene.start(first))
    must(scene.start(second))
    must(scene.finish(first, duration_ms=2_000))
    assert scene.status.phase == "running"
    assert refused(scene.start(third)) == "not_due"
    assert must(scene.finish(second)).types[-1] == "turn.failed"
    assert scene.status.code == "tool_time"
