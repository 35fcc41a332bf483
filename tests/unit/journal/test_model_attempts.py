"""Attempts of a model call: answers, failures by class, and attempts that were lost or handed over."""

import pytest

from tests.unit.journal.scene import USAGE, Scene, call, definition, must, refused
from turnwright.journal.actions import Delay, ModelOp, ToolOp, Work
from turnwright.journal.agents import Limits
from turnwright.journal.decide.model_testimony import MESSAGE_CHARACTERS_MAX
from turnwright.journal.decide.retry_policy import POLICY, RETRY_AFTER_LONGEST_S, retry_delay_s
from turnwright.journal.entries import ModelFailed, ModelLate
from turnwright.journal.entries.operation import FailureClass
from turnwright.journal.messages import Text

TRIED_AGAIN: list[FailureClass] = ["transient", "timeout", "cut", "rate_limited", "context_length", "tools_away"]
HOPELESS: list[FailureClass] = ["invalid", "auth", "refused"]
ATTEMPTS = {"transient": 5, "timeout": 5, "cut": 5, "rate_limited": 20, "context_length": 2, "tools_away": 20}


def fail_until_the_end(scene: Scene, failure: FailureClass) -> int:
    """Let the model fail again and again; gives the number of attempts."""
    for attempt in range(1, 100):
        must(scene.request())
        must(scene.fail_model(failure, ordinal=attempt))
        if scene.status.finished:
            return attempt
        scene.wait(3_600)
    raise AssertionError("it never ended")


def test_every_class_of_failure_has_a_policy() -> None:
    assert sorted(POLICY) == sorted([*TRIED_AGAIN, *HOPELESS])


@pytest.mark.parametrize("failure", TRIED_AGAIN)
def test_a_class_that_may_pass_is_tried_as_often_as_its_policy_says(failure: FailureClass) -> None:
    assert fail_until_the_end(Scene().running(), failure) == ATTEMPTS[failure]


@pytest.mark.parametrize("failure", HOPELESS)
def test_a_class_that_cannot_pass_is_not_tried_again(failure: FailureClass) -> None:
    scene = Scene().running()
    assert fail_until_the_end(scene, failure) == 1
    assert scene.status.code == "model_error"


def test_failures_are_counted_by_class_and_restarts_cost_none_of_them() -> None:
    scene = Scene().running()
    for attempt, failure in enumerate(TRIED_AGAIN, start=1):
        must(scene.request())
        must(scene.fail_model(failure, ordinal=attempt))
        scene.wait(3_600)
        must(scene.claim())
    model = scene.active.model
    assert model is not None
    assert model.failures == dict.fromkeys(TRIED_AGAIN, 1)


def test_the_agents_own_bound_of_attempts_holds() -> None:
    assert fail_until_the_end(Scene(agent=definition(model_attempts_max=2)).running(), "transient") == 2


def test_the_next_attempt_waits_until_its_time_and_not_for_a_clock_that_ran_backwards() -> None:
    scene = Scene().thinking()
    must(scene.fail_model("rate_limited", after_s=60))
    assert refused(scene.request()) == "not_due"
    scene.wait(-3_600)
    action = must(scene.look()).action
    assert isinstance(action, Delay)
    assert 59 < action.delay_s <= 60
    scene.wait(3_600 + 60)
    must(scene.request())


def test_what_a_provider_asks_for_is_never_undercut() -> None:
    limits = Limits()
    for asked in (0.001, 1.0, 119.9, 700.0, RETRY_AFTER_LONGEST_S):
        for count in range(1, 5):
            delay = retry_delay_s("rate_limited", count, limits, asked, "seed")
            assert delay is not None
            assert delay >= asked
    assert retry_delay_s("rate_limited", 1, limits, RETRY_AFTER_LONGEST_S + 1, "seed") is None


def test_the_delay_written_down_does_not_undercut_either() -> None:
    scene = Scene().thinking()
    begun = scene.machine.now_us
    must(scene.fail_model("rate_limited", after_s=10.000_000_7))
    failed = scene.machine.entries[-1].payload
    assert isinstance(failed, ModelFailed)
    assert failed.retry_at_us is not None
    assert failed.retry_at_us - begun > 10_000_000


def test_delays_are_the_same_for_the_same_attempt_and_differ_between_attempts() -> None:
    limits = Limits()
    delays = [retry_delay_s("transient", 1, limits, None, f"turn/1/{n}") for n in range(50)]
    assert delays == [retry_delay_s("transient", 1, limits, None, f"turn/1/{n}") for n in range(50)]
    assert len(set(delays)) > 10


@pytest.mark.parametrize("failure", TRIED_AGAIN)
def test_delays_grow_and_stay_under_a_bound(failure: FailureClass) -> None:
    policy = POLICY[failure]
    assert policy is not None
    limits = Limits(model_attempts_max=1_000)
    delays = [retry_delay_s(failure, n, limits, None, "seed") or 0 for n in range(1, 40)]
    assert delays == sorted(delays)
    assert policy.first_s * 0.75 <= delays[0] <= policy.first_s * 1.25
    assert delays[-1] <= policy.longest_s * 1.25


def test_a_run_that_comes_while_the_provider_asks_for_patience_is_no_run_without_progress() -> None:
    scene = Scene().thinking()
    must(scene.fail_model("rate_limited", after_s=1_800))
    for _ in range(20):
        must(scene.claim())
    scene.wait(1_800)
    must(scene.request())
    assert scene.status.phase == "running"


def test_a_drained_attempt_costs_nothing() -> None:
    scene = Scene().running()
    for attempt in range(1, 40):
        must(scene.request())
        must(scene.interrupt_model("drained", Text(text="half"), ordinal=attempt))
    model = scene.active.model
    assert model is not None
    assert (model.lost, model.failures) == (0, {})
    assert scene.machine.state.usage.total.requests == 39
    assert [message.role for message in scene.machine.state.context] == ["user"]


def test_the_first_answer_closes_the_step_whichever_attempt_brings_it() -> None:
    scene = Scene().thinking()
    scene.machine.lapsed.add(scene.worker)
    scene.worker = "w2"
    must(scene.look())
    must(scene.request())
    assert must(scene.respond_model(call("look"), ordinal=1)).types == ["model.responded", "tool.decided"]
    assert must(scene.respond_model(call("send"), ordinal=2)).types == ["model.late"]
    assert [c.name for c in scene.calls] == ["look"]


def test_a_late_answer_is_kept_with_its_blocks_and_its_usage_is_counted_once() -> None:
    scene = Scene().thinking()
    must(scene.respond_model())
    must(scene.respond_model(Text(text="again"), ordinal=2, step=1))
    must(scene.respond_model(Text(text="again"), ordinal=2, step=1))
    late = [e.payload for e in scene.machine.entries if isinstance(e.payload, ModelLate)]
    assert [payload.blocks for payload in late] == [(Text(text="again"),)]
    assert scene.machine.state.usage.total == USAGE + USAGE


def test_an_answer_that_is_committed_twice_because_its_receipt_was_lost_is_one_answer() -> None:
    scene = Scene().thinking()
    must(scene.respond_model(step=1))
    assert scene.status.phase == "completed"
    assert must(scene.respond_model(step=1)).types == []
    assert scene.machine.state.usage.total == USAGE


def test_an_answer_from_an_older_run_is_applied_but_the_newest_run_finishes() -> None:
    scene = Scene().thinking()
    older = scene.machine.control.epoch
    must(scene.claim())
    step = must(scene.respond_model(epoch=older))
    assert step.types == ["model.responded"]
    assert step.action == Work()
    assert must(scene.look()).types == ["turn.completed"]


def test_a_late_answer_takes_back_a_failure_that_was_not_yet_acted_upon() -> None:
    scene = Scene().thinking()
    scene.machine.lapsed.add(scene.worker)
    scene.worker = "w2"
    must(scene.look())
    older = scene.machine.control.epoch
    must(scene.request())
    must(scene.claim())
    must(scene.fail_model("auth", ordinal=2, epoch=older))
    assert scene.active.failing is not None
    must(scene.respond_model(call("look"), epoch=older))
    assert must(scene.look()).action == Work((ToolOp(1, scene.calls[0].call_id, 1),))


@pytest.mark.parametrize("ordinal", [0, 2, 7])
def test_testimony_of_an_attempt_that_never_claimed_is_refused(ordinal: int) -> None:
    scene = Scene().thinking()
    assert refused(scene.respond_model(ordinal=ordinal)) == "no_claim"
    must(scene.respond_model())


def test_a_failure_of_an_attempt_that_is_not_the_current_one_changes_nothing() -> None:
    scene = Scene().thinking()
    scene.machine.dead.add(scene.worker)
    scene.worker = "w2"
    must(scene.request())
    assert must(scene.fail_model("auth", ordinal=1)).types == []
    assert must(scene.interrupt_model("lost", ordinal=1)).types == ["model.late"]
    assert scene.active.busy


def test_a_message_of_any_length_is_bounded_in_what_control_holds() -> None:
    scene = Scene().thinking()
    must(scene.fail_model("auth", message="x" * 1_000_000))
    message = scene.status.message or ""
    assert MESSAGE_CHARACTERS_MAX < len(message) < MESSAGE_CHARACTERS_MAX + 100
    assert message.endswith("…")


def test_a_steps_second_attempt_has_the_next_ordinal() -> None:
    scene = Scene().thinking()
    must(scene.fail_model("transient"))
    scene.wait(60)
    assert must(scene.look()).action == Work((ModelOp(1, 2),))
