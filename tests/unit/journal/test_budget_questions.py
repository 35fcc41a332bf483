"""Questions about budgets: who raises one, where, and when it is settled by itself; and what other threads take."""

from typing import Any

import pytest

from tests.unit.journal.budgeted import SCOPES, bounded, one_step, over, run_call
from tests.unit.journal.scene import Scene, call, must, refused
from turnwright.journal.actions import Delay, Park
from turnwright.journal.budgets import Budget, Used
from turnwright.journal.spending import committed


@pytest.mark.parametrize("scope", ["turn", "turns", "thread"])
def test_a_raised_budget_lets_the_turn_go_on_to_the_new_bound(scope: str) -> None:
    scene = bounded(scope, steps=1)
    one_step(scene, "no such tool")
    step = must(scene.respond("raise", budget={"steps": 2}))
    assert step.types == ["interaction.resolved", "budget.changed", "turn.continued"]
    one_step(scene, "no such tool")
    assert over(scene) == (SCOPES[scope][1], ["steps"])


@pytest.mark.parametrize("scope", ["turn", "turns", "thread"])
def test_a_raise_without_a_budget_lifts_it(scope: str) -> None:
    scene = bounded(scope, steps=1)
    one_step(scene, "no such tool")
    must(scene.respond("raise"))
    for _ in range(3):
        one_step(scene, "no such tool")


def test_raising_a_turns_budget_raises_that_of_no_other_turn() -> None:
    scene = bounded("turns", steps=1)
    one_step(scene, "no such tool")
    must(scene.respond("raise"))
    must(scene.request())
    must(scene.respond_model())
    must(scene.submit())
    must(scene.claim())
    one_step(scene, "no such tool")
    assert over(scene) == ("turn", ["steps"])


@pytest.mark.parametrize("scope", SCOPES)
def test_to_refuse_more_fails_the_turn_with_the_code_budget_and_a_retry_makes_sense(scope: str) -> None:
    scene = bounded(scope, steps=1)
    one_step(scene, "no such tool")
    must(scene.respond("fail"))
    must(scene.look())
    assert (scene.status.phase, scene.status.code, scene.status.retryable) == ("failed", "budget", True)
    must(scene.retry())


@pytest.mark.parametrize("scope", ["turn", "thread"])
@pytest.mark.parametrize(
    ("answer", "code"),
    [
        ({"budget": {"steps": 1}}, "still_over_budget"),
        ({"budget": {"steps": -1}}, "invalid_budget"),
        ({"budget": {"stepps": 5}}, "invalid_budget"),
        ({"budget": 5}, "invalid_budget"),
        ({"steps": 5}, "bad_answer"),
    ],
)
def test_an_answer_that_raises_nothing_is_rejected_and_the_question_stays_open(
    scope: str, answer: dict[str, Any], code: str
) -> None:
    scene = bounded(scope, steps=1)
    one_step(scene, "no such tool")
    before = (scene.machine.control, len(scene.machine.entries))
    assert refused(scene.respond("raise", **answer)) == code
    assert (scene.machine.control, len(scene.machine.entries)) == before
    assert refused(scene.respond("approve")) == "bad_answer"


def test_a_sessions_budget_is_raised_at_the_session_first() -> None:
    scene = bounded("session", steps=1)
    one_step(scene, "no such tool")
    assert refused(scene.respond("raise")) == "still_over_budget"
    scene.set_session_budget(steps=2)
    step = must(scene.look())
    assert step.types == ["interaction.resolved", "turn.continued"]
    must(scene.request())


def test_a_question_asks_only_for_what_is_used_up_and_that_alone_must_be_raised() -> None:
    scene = bounded("thread", steps=1, tool_calls=1)
    (call_id,) = one_step(scene, "look")
    run_call(scene, call_id)
    assert over(scene) == ("thread", ["steps"])
    must(scene.respond("raise", budget={"steps": 5, "tool_calls": 1}))
    one_step(scene, "look")
    assert over(scene) == ("thread", ["tool_calls"])


@pytest.mark.parametrize("scope", ["turns", "thread"])
def test_raising_the_budget_elsewhere_answers_the_question_at_once(scope: str) -> None:
    scene = bounded(scope, steps=1)
    one_step(scene, "no such tool")
    step = must(scene.set_budget("thread" if scope == "thread" else "turns", steps=2))
    assert step.types == ["budget.changed", "interaction.resolved", "turn.continued"]
    must(scene.request())


@pytest.mark.parametrize("scope", ["thread", "session"])
def test_lifting_the_budget_answers_the_question(scope: str) -> None:
    scene = bounded(scope, steps=1)
    one_step(scene, "no such tool")
    if scope == "thread":
        must(scene.set_budget("thread"))
    else:
        scene.set_session_budget()
    must(scene.look())
    must(scene.request())


def test_a_budget_that_is_raised_too_little_leaves_the_question_open() -> None:
    scene = bounded("thread", steps=1)
    one_step(scene, "no such tool")
    asked = scene.questions[0].interaction_id
    must(scene.set_budget("thread", steps=1, tokens=1_000))
    assert over(scene) == ("thread", ["steps"])
    must(scene.respond("raise", question=asked))


def test_an_answer_after_the_budget_was_raised_elsewhere_finds_the_question_settled() -> None:
    scene = bounded("session", steps=1)
    one_step(scene, "no such tool")
    asked = scene.questions[0].interaction_id
    scene.set_session_budget(steps=5)
    assert refused(scene.respond("fail", question=asked)) == "already_answered"
    assert scene.status.phase == "running"


def test_a_budget_raised_while_the_turn_is_paused_lets_the_resume_go_on() -> None:
    scene = bounded("thread", steps=1)
    one_step(scene, "no such tool")
    must(scene.pause())
    assert must(scene.set_budget("thread")).action == Park("paused")
    must(scene.resume())
    must(scene.request())


def test_a_budget_used_up_under_a_pause_asks_when_the_pause_ends() -> None:
    scene = bounded("thread", steps=1)
    must(scene.request())
    must(scene.pause())
    must(scene.respond_model(call("no such tool")))
    assert scene.questions == ()
    must(scene.resume())
    must(scene.look())
    assert over(scene) == ("thread", ["steps"])


def test_a_cancel_closes_the_question_about_a_budget() -> None:
    scene = bounded("thread", steps=0)
    assert must(scene.cancel()).types == [
        "turn.cancel_requested",
        "interaction.resolved",
        "input.discarded",
        "turn.cancelled",
    ]


def test_each_question_about_a_budget_has_an_id_of_its_own() -> None:
    scene = bounded("thread", steps=0)
    asked = set()
    for steps in range(1, 4):
        asked.add(scene.questions[0].interaction_id)
        must(scene.respond("raise", budget={"steps": steps}))
        one_step(scene, "no such tool")
    assert len(asked) == 3


# -- a session's other threads ---------------------------------------------------------------------------


def test_what_other_threads_use_counts_for_a_sessions_budget() -> None:
    scene = bounded("session", tokens=100)
    scene.machine.elsewhere = Used(tokens=99)
    must(scene.request())
    must(scene.interrupt_model("drained"))
    assert over(scene) == ("session", ["tokens"])
    scene.machine.elsewhere = Used()
    assert must(scene.look()).types == ["interaction.resolved", "turn.continued"]


@pytest.mark.parametrize(
    "others", [{"elsewhere": Used(tokens=60), "reserved": Used(tokens=40)}, {"reserved": Used(tokens=100)}]
)
def test_what_others_only_reserved_holds_the_turn_up_and_asks_nobody(others: dict[str, Used]) -> None:
    scene = bounded("session", tokens=100)
    scene.machine.elsewhere, scene.machine.reserved = others.get("elsewhere", Used()), others["reserved"]
    step = scene.request()
    assert refused(step) == "not_due"
    assert isinstance(step.action, Delay)
    assert (step.action.why, step.types, scene.questions) == ("reserved", [], ())
    scene.machine.reserved = Used(tokens=39)
    must(scene.request())


def test_what_others_used_up_is_asked_about_whatever_is_reserved_beside_it_and_may_be_raised_above_that() -> None:
    scene = bounded("session", tokens=100)
    scene.machine.elsewhere, scene.machine.reserved = Used(tokens=100), Used(tokens=500)
    must(scene.look())
    assert over(scene) == ("session", ["tokens"])
    scene.set_session_budget(tokens=200)
    step = must(scene.look())
    assert step.types == ["interaction.resolved", "turn.continued"]
    assert isinstance(step.action, Delay)


def test_what_others_reserved_holds_no_tool_up_and_no_narrower_budget_is_taken_for_it() -> None:
    scene = bounded("session", tokens=100)
    (call_id,) = one_step(scene, "look")
    scene.machine.reserved = Used(tokens=100)
    run_call(scene, call_id)
    must(scene.set_budget("thread", steps=1))
    must(scene.look())
    assert over(scene) == ("thread", ["steps"])


def test_a_model_call_reserves_what_it_may_use_and_gives_it_back_with_its_end() -> None:
    scene = bounded("session", tokens=1_000)
    must(scene.request(reserve=400))
    assert committed(scene.machine.control).tokens == 400
    must(scene.respond_model(call("look")))
    assert committed(scene.machine.control).tokens == 15


@pytest.mark.parametrize("how", ["failed", "interrupted", "lost"])
def test_a_model_call_that_ends_otherwise_gives_back_what_it_reserved(how: str) -> None:
    scene = bounded("session", tokens=1_000)
    must(scene.request(reserve=400))
    if how == "failed":
        must(scene.fail_model())
    elif how == "interrupted":
        must(scene.interrupt_model("drained"))
    else:
        scene.machine.dead.add(scene.worker)
        must(scene.look())
    assert committed(scene.machine.control).tokens == scene.machine.control.used.tokens


def test_what_the_threads_own_call_had_reserved_never_asks_about_a_budget_with_room() -> None:
    scene = bounded("session", tokens=1_000)
    scene.machine.elsewhere = Used(tokens=500)
    must(scene.request(reserve=600))
    must(scene.steer("and this"))
    must(scene.respond_model())
    assert scene.questions == ()
    must(scene.request())


def test_a_shell_that_knows_nothing_of_the_session_asks_nothing_about_its_budget() -> None:
    scene = bounded("thread", steps=5)
    scene.machine.elsewhere = Used(steps=1_000)
    must(scene.request())


def test_a_raise_keeps_the_bounds_it_does_not_name_and_lifts_what_it_names_none() -> None:
    scene = Scene()
    must(scene.submit(budget=Budget(steps=1, tokens=1_000_000, tool_calls=50)))
    must(scene.claim())
    must(scene.request())
    must(scene.respond_model(call("no such tool")))
    must(scene.respond("raise", budget={"steps": 9, "tool_calls": None}))
    assert scene.active.budget == Budget(steps=9, tokens=1_000_000)
