"""Who may act for a turn: claims of runs and of operations."""

from tests.unit.journal.scene import Scene, call, definition, must, refused
from turnwright.journal.actions import ModelOp, Stop, Work
from turnwright.journal.commands import ClaimRun, Look
from turnwright.journal.plan import running_ops


def test_a_run_that_claims_starts_its_turn_opens_the_thread_and_gets_the_next_epoch() -> None:
    scene = Scene()
    must(scene.submit())
    step = must(scene.claim())
    assert step.types == ["thread.opened", "turn.started", "run.claimed"]
    assert step.action == Work((ModelOp(1, 1),))
    assert scene.machine.control.epoch == 1


def test_the_same_run_claims_again_without_a_trace_and_keeps_its_epoch() -> None:
    scene = Scene()
    must(scene.submit())
    must(scene.claim("run", epoch=0))
    assert must(scene.claim("run", epoch=0)).types == []
    assert scene.machine.control.epoch == 1


def test_of_two_runs_from_one_epoch_the_second_is_superseded() -> None:
    scene = Scene()
    must(scene.submit())
    must(scene.claim("a", epoch=0))
    step = scene.claim("b", epoch=0)
    assert refused(step) == "superseded"
    assert step.action == Stop("superseded")


def test_a_superseded_run_can_start_nothing_and_ends() -> None:
    scene = Scene().running()
    older = scene.machine.control.epoch
    must(scene.claim())
    assert refused(scene.request(epoch=older)) == "superseded"
    assert refused(scene.run(Look(turn_id=scene.turn, epoch=older))) == "superseded"
    must(scene.request())
    must(scene.respond_model(call("look")))
    assert refused(scene.start(scene.calls[0].call_id, epoch=older)) == "superseded"


def test_a_run_that_was_refused_its_claim_cannot_act_under_the_epoch_it_read() -> None:
    scene = Scene()
    must(scene.submit())
    must(scene.claim("first"))
    must(scene.pause())
    assert refused(scene.claim("second")) == "parked"
    must(scene.resume())
    assert refused(scene.request(run="second")) == "superseded"
    must(scene.request(run="first"))


def test_a_run_can_claim_nothing_after_its_turn_ended_not_even_when_the_turn_is_tried_again() -> None:
    scene = Scene()
    must(scene.submit())
    must(scene.claim("run"))
    must(scene.request())
    must(scene.fail_model("auth"))
    assert refused(scene.claim("run", epoch=1)) == "superseded"
    must(scene.retry())
    assert refused(scene.claim("run", epoch=1)) == "superseded"
    must(scene.claim("another", epoch=1))


def test_a_turn_that_is_not_the_front_cannot_be_claimed() -> None:
    scene = Scene()
    must(scene.submit("first"))
    first = scene.turn
    must(scene.submit("second"))
    step = scene.claim()
    assert refused(step) == "not_startable"
    assert step.action == Stop("not_head")
    must(scene.claim(turn=first))
    assert refused(scene.claim()) == "not_startable"


def test_a_worker_that_does_not_know_the_agent_does_not_open_the_thread() -> None:
    scene = Scene()
    must(scene.submit())
    unknown = ClaimRun(turn_id=scene.turn, run="blind", start_epoch=0)
    assert refused(scene.run(unknown)) == "agent_unknown"
    must(scene.claim())


def test_a_thread_keeps_the_definition_it_was_opened_with() -> None:
    scene = Scene(agent=definition(max_steps=7)).running()
    must(scene.cancel())
    scene.agent = definition(max_steps=9)
    scene.running()
    assert scene.machine.control.limits.max_steps == 7
    assert scene.machine.state.agent == definition(max_steps=7)


def test_an_attempt_whose_claims_answer_was_lost_gets_the_same_ordinal_by_its_nonce() -> None:
    scene = Scene().running()
    must(scene.request(nonce="n"))
    assert must(scene.request(nonce="n")).types == []
    must(scene.respond_model(call("look")))
    (only,) = scene.calls
    must(scene.start(only.call_id, nonce="m"))
    assert must(scene.start(only.call_id, nonce="m")).types == []


def test_an_operation_whose_claimant_lives_is_held() -> None:
    scene = Scene().running()
    must(scene.request(nonce="n"))
    assert refused(scene.request(nonce="other")) == "held"
    must(scene.respond_model(call("send")))
    (only,) = scene.calls
    must(scene.start(only.call_id))
    assert refused(scene.start(only.call_id)) == "held"


def test_a_new_run_waits_for_the_attempt_of_the_old_one_that_lives() -> None:
    scene = Scene().thinking()
    step = must(scene.claim())
    assert step.action == Work(running=running_ops(scene.active))
    assert refused(scene.request()) == "held"


def test_a_process_that_is_taken_for_dead_claims_nothing() -> None:
    scene = Scene().running()
    scene.machine.dead.add(scene.worker)
    assert refused(scene.request()) == "presence_lost"
    scene.worker = "w2"
    must(scene.request())


def test_a_claim_for_another_step_is_not_due() -> None:
    scene = Scene().running()
    assert refused(scene.request(step=2)) == "not_due"
    scene = Scene()
    (call_id,) = scene.calling("look")
    assert refused(scene.request()) == "not_due"
    assert refused(scene.start("c-none")) == "not_due"
    must(scene.start(call_id))
