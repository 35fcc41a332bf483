"""Budgets: over one a turn waits for a person, exactly where it stops, at each scope and for each kind."""

import pytest

from tests.unit.journal.agent import definition
from tests.unit.journal.budgeted import SCOPES, bounded, one_step, over, run_call
from tests.unit.journal.scene import Scene, call, must, refused
from turnwright.journal.actions import ToolOp, Work
from turnwright.journal.budgets import Budget, Used
from turnwright.journal.messages import Usage


@pytest.mark.parametrize("scope", SCOPES)
def test_steps_stop_the_turn_before_the_step_that_would_be_one_too_many(scope: str) -> None:
    scene = bounded(scope, steps=2)
    for _ in range(2):
        (call_id,) = one_step(scene, "look")
        run_call(scene, call_id)
    assert over(scene) == (SCOPES[scope][1], ["steps"])
    assert refused(scene.request()) == "not_due"
    assert scene.active.used.steps == 2


@pytest.mark.parametrize("scope", SCOPES)
@pytest.mark.parametrize("kind", ["tokens", "cost_microusd"])
def test_tokens_and_cost_stop_the_turn_before_the_model_call_after_they_are_reached(scope: str, kind: str) -> None:
    usage = Usage(requests=1, input_tokens=60, output_tokens=40, cost_microusd=100)
    for bound, stops in ((100, True), (101, False)):
        scene = bounded(scope, **{kind: bound})
        (call_id,) = one_step(scene, "look", usage=usage)
        run_call(scene, call_id)
        if stops:
            assert over(scene) == (SCOPES[scope][1], [kind])
        else:
            must(scene.request())


@pytest.mark.parametrize("scope", SCOPES)
def test_tokens_hold_no_call_back_that_the_model_asked_for(scope: str) -> None:
    scene = bounded(scope, tokens=1)
    (call_id,) = one_step(scene, "look")
    run_call(scene, call_id)
    assert over(scene)[1] == ["tokens"]


@pytest.mark.parametrize("scope", SCOPES)
def test_tool_calls_stop_the_turn_before_the_call_that_would_be_one_too_many(scope: str) -> None:
    scene = bounded(scope, tool_calls=2)
    first, second, third = one_step(scene, "look", "put", "send")
    assert must(scene.look()).action == Work((ToolOp(1, first, 1), ToolOp(1, second, 1)))
    must(scene.start(first))
    must(scene.start(second))
    assert refused(scene.start(third)) == "not_due"
    must(scene.finish(second))
    must(scene.finish(first))
    assert over(scene) == (SCOPES[scope][1], ["tool_calls"])
    assert refused(scene.start(third)) == "not_due"


@pytest.mark.parametrize("scope", SCOPES)
def test_wall_time_stops_calls_and_steps_and_counts_only_while_an_operation_runs(scope: str) -> None:
    scene = bounded(scope, wall_time_s=30)
    scene.wait(1_000)
    (first, second) = one_step(scene, "look", "put", seconds=20)
    scene.wait(1_000)
    must(scene.pause())
    scene.wait(1_000)
    must(scene.resume())
    run_call(scene, first, seconds=9)
    assert scene.active.used.wall_us == 29_000_000
    run_call(scene, second, seconds=1)
    assert over(scene) == (SCOPES[scope][1], ["wall_time_s"])


def test_operations_at_the_same_time_count_their_time_once() -> None:
    scene = bounded("turn", wall_time_s=1_000)
    first, second = one_step(scene, "look", "put")
    must(scene.start(first))
    scene.wait(10)
    must(scene.start(second))
    scene.wait(10)
    must(scene.finish(first))
    scene.wait(10)
    must(scene.finish(second))
    assert scene.active.used.wall_us == 30_000_000


def test_a_worker_that_died_has_used_time_until_that_is_known_and_waiting_for_its_outcome_is_free() -> None:
    scene = bounded("turn", wall_time_s=1_000)
    (call_id,) = one_step(scene, "send")
    must(scene.start(call_id))
    scene.wait(10)
    scene.machine.dead.add(scene.worker)
    scene.worker = "w2"
    must(scene.look())
    scene.wait(1_000)
    must(scene.reconcile(call_id, "succeeded"))
    assert scene.active.used.wall_us == 10_000_000


def test_failed_interrupted_and_late_attempts_of_a_step_count_their_tokens_and_no_further_step() -> None:
    scene = bounded("turn", steps=1, tokens=1_000)
    must(scene.request())
    must(scene.interrupt_model("drained"))
    must(scene.request())
    must(scene.respond_model(call("look"), ordinal=2))
    must(scene.respond_model(call("look"), ordinal=1))
    assert (scene.active.used.steps, scene.active.used.tokens) == (1, 45)
    assert scene.machine.control.used == scene.active.used


def test_another_attempt_of_a_step_needs_room_for_tokens_but_not_for_a_step() -> None:
    scene = bounded("turn", steps=1, tokens=15)
    must(scene.request())
    must(scene.fail_model())
    scene.wait(60)
    must(scene.request())
    must(scene.interrupt_model("drained", ordinal=2))
    assert over(scene) == ("turn", ["tokens"])


def test_every_attempt_of_a_call_counts() -> None:
    scene = bounded("turn", tool_calls=2)
    (call_id,) = one_step(scene, "put")
    for _ in range(2):
        must(scene.start(call_id))
        must(scene.finish(call_id, "drained", ordinal=scene.calls[0].ordinal))
    assert over(scene)[1] == ["tool_calls"]


def test_the_answer_that_ends_the_turn_is_not_held_back_by_a_budget() -> None:
    scene = bounded("turn", tokens=1, steps=1)
    one_step(scene)
    assert scene.status.phase == "completed"


@pytest.mark.parametrize("scope", SCOPES)
def test_a_budget_of_nothing_asks_before_the_first_step(scope: str) -> None:
    scene = bounded(scope, steps=0)
    assert over(scene) == (SCOPES[scope][1], ["steps"])
    assert "model.requested" not in scene.types()


def test_what_is_used_is_kept_when_another_run_takes_the_turn() -> None:
    scene = bounded("turn", steps=2)
    (call_id,) = one_step(scene, "look")
    used = scene.active.used
    must(scene.claim())
    run_call(scene, call_id)
    assert scene.active.used == used + Used(tool_calls=1)
    one_step(scene, "no such tool")
    assert over(scene)[1] == ["steps"]


def test_a_retried_turn_begins_its_own_budget_anew_and_the_threads_goes_on() -> None:
    scene = bounded("turn", steps=1)
    must(scene.request())
    must(scene.fail_model("auth"))
    must(scene.retry())
    must(scene.claim())
    assert scene.active.used == Used()
    assert scene.machine.control.used.steps == 1
    one_step(scene)
    assert scene.status.phase == "completed"


def test_a_threads_budget_is_used_by_all_its_turns_and_a_turns_only_by_itself() -> None:
    scene = bounded("turns", steps=1)
    must(scene.set_budget("thread", steps=2))
    one_step(scene)
    must(scene.submit())
    must(scene.claim())
    one_step(scene, "no such tool")
    assert over(scene) == ("turn", ["steps"])
    must(scene.respond("raise"))
    must(scene.look())
    assert over(scene) == ("thread", ["steps"])


def test_a_turns_own_budget_stands_for_the_one_of_the_threads_turns() -> None:
    scene = Scene()
    must(scene.submit(budget=Budget(steps=2)))
    must(scene.set_budget("turns", steps=0))
    must(scene.claim())
    one_step(scene, "no such tool")
    one_step(scene, "no such tool")
    assert over(scene) == ("turn", ["steps"])


def test_a_limit_of_the_agents_fails_the_turn_before_a_budget_asks() -> None:
    scene = Scene(agent=definition(max_steps=1))
    must(scene.submit(budget=Budget(steps=1)))
    must(scene.claim())
    one_step(scene, "no such tool")
    assert (scene.status.phase, scene.status.code) == ("failed", "max_steps")
