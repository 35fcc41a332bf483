"""An agent's own limits fail the turn, by name."""

import math
from collections.abc import Callable
from typing import Any, Final

import pytest
from pydantic import ValidationError

from tests.unit.journal.scene import Scene, call, definition, must
from turnwright.journal.agents import DEADLINE_S_MAX, AgentDefinition, ApprovalTerms, ContextPolicy, Limits
from turnwright.journal.budgets import Budget
from turnwright.journal.codec import is_newer
from turnwright.journal.errors import InvalidInput
from turnwright.journal.messages import Usage

MISSPELT: Final[dict[str, Any]] = {"max_step": 3}


def test_a_turn_over_its_steps_fails_when_it_would_begin_the_next() -> None:
    scene = Scene(agent=definition(max_steps=2))
    (call_id,) = scene.calling("look")
    must(scene.start(call_id))
    must(scene.finish(call_id))
    must(scene.request())
    must(scene.respond_model(call("look")))
    (second,) = scene.calls
    must(scene.start(second.call_id))
    must(scene.finish(second.call_id))
    assert (scene.status.phase, scene.status.code) == ("failed", "max_steps")


def test_the_last_step_may_complete_the_turn() -> None:
    scene = Scene(agent=definition(max_steps=1)).thinking()
    must(scene.respond_model())
    assert scene.status.phase == "completed"


def test_a_steer_in_the_last_step_cannot_be_seen_any_more_and_waits_for_a_retry() -> None:
    scene = Scene(agent=definition(max_steps=1)).thinking()
    must(scene.steer("one more thing"))
    must(scene.respond_model())
    assert scene.status.code == "max_steps"
    must(scene.retry())
    must(scene.claim())
    must(scene.request())
    assert scene.machine.state.context[-1].text == "one more thing"


def test_a_turn_over_its_tokens_fails_and_its_calls_never_run() -> None:
    scene = Scene(agent=definition(max_tokens=100)).thinking()
    must(scene.respond_model(call("send"), usage=Usage(requests=1, input_tokens=60, output_tokens=40)))
    assert scene.status.code == "max_tokens"
    assert "tool.started" not in scene.types()


def test_tokens_of_failed_interrupted_and_late_attempts_count_as_well() -> None:
    scene = Scene(agent=definition(max_tokens=1_000)).thinking()
    must(scene.interrupt_model("drained"))
    must(scene.request())
    must(scene.respond_model(call("look"), ordinal=2))
    must(scene.respond_model(call("look"), ordinal=1))
    assert scene.active.used.tokens == 45


def test_an_answer_that_ends_the_turn_is_not_lost_to_a_limit() -> None:
    scene = Scene(agent=definition(max_tokens=10)).thinking()
    must(scene.respond_model(usage=Usage(requests=1, input_tokens=60, output_tokens=40)))
    assert scene.status.phase == "completed"


def test_time_spent_in_tools_has_a_limit_and_waiting_does_not_count() -> None:
    scene = Scene(agent=definition(tool_time_s=10))
    call_id = scene.unknown()
    scene.wait(100_000)
    must(scene.reconcile(call_id, "run_again"))
    must(scene.start(call_id))
    must(scene.finish(call_id, ordinal=2, duration_ms=9_999))
    assert scene.status.phase == "running"
    must(scene.request())
    must(scene.respond_model(call("look")))
    (second,) = scene.calls
    must(scene.start(second.call_id))
    must(scene.finish(second.call_id, duration_ms=1))
    assert scene.status.code == "tool_time"


@pytest.mark.parametrize("seconds", [0, -1, math.inf, math.nan, 1e300])
def test_people_have_a_time_that_a_clock_can_count_to_or_no_deadline_at_all(seconds: float) -> None:
    with pytest.raises(InvalidInput, match="ApprovalTerms: deadline_s: "):
        ApprovalTerms(deadline_s=seconds)
    assert ApprovalTerms(deadline_s=DEADLINE_S_MAX).deadline_s == DEADLINE_S_MAX


def test_a_budget_without_bound_is_one_that_is_left_out() -> None:
    for seconds in (math.inf, math.nan, -1):
        with pytest.raises(InvalidInput, match="Budget: wall_time_s: "):
            Budget(wall_time_s=seconds)
    assert not Budget(steps=None).bounded


@pytest.mark.parametrize("name", ["steps", "tokens", "cost_microusd", "tool_calls", "wall_time_s"])
@pytest.mark.parametrize("amount", [True, "3", -1, 10**40])
def test_a_bound_is_an_amount_one_can_count_to(name: str, amount: object) -> None:
    with pytest.raises(ValidationError):
        Budget.model_validate({name: amount})
    assert Budget.model_validate_json(f'{{"{name}": 3}}').bounded


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda: ContextPolicy(window_tokens=700), "ContextPolicy: window_tokens: Input .* 1000, got 700"),
        (lambda: ContextPolicy(compact_to=0.9), "ContextPolicy: compact_to must be below compact_above"),
        (lambda: Limits(**MISSPELT), "Limits: it has no max_step"),
        (lambda: Budget(steps=-1), "Budget: steps: Input .* 0, got -1"),
    ],
)
def test_what_an_author_writes_and_does_not_fit_is_said_in_our_words(make: Callable[[], object], said: str) -> None:
    with pytest.raises(InvalidInput, match=f"^{said}"):
        make()


def test_what_a_journal_holds_is_judged_by_who_reads_it() -> None:
    with pytest.raises(ValidationError) as refused:
        AgentDefinition.model_validate_json('{"name": "a", "model": "m", "limits": {"of_a_newer_version": 1}}')
    assert is_newer(refused.value)
