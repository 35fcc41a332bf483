"""Attempts of tool calls: results, unknown outcomes, late results, and calls that were never possible."""

import pytest

from tests.unit.journal.agent import asking
from tests.unit.journal.scene import Scene, call, must, refused
from turnwright.journal.actions import ReconcileOp, ToolOp, Work
from turnwright.journal.agents import Effect
from turnwright.journal.decide.model_testimony import CALLS_PER_STEP_MAX
from turnwright.journal.entries import InteractionResolved, ToolDecided, ToolLate, ToolStarted
from turnwright.journal.entries.operation import ToolOutcome
from turnwright.journal.messages import Text, ToolCall

NAMES: dict[Effect, str] = {"read": "look", "idempotent": "put", "once": "send"}


def results(scene: Scene) -> list[tuple[str, str]]:
    return [(r.name, r.outcome) for message in scene.machine.state.context for r in message.results]


def started(effect: Effect = "once") -> tuple[Scene, str]:
    scene = Scene()
    (call_id,) = scene.calling(NAMES[effect])
    must(scene.start(call_id))
    return scene, call_id


def lose(scene: Scene) -> None:
    scene.machine.dead.add(scene.worker)
    scene.worker = scene.next_id("w")
    must(scene.look())


@pytest.mark.parametrize("outcome", ["success", "error", "denied"])
def test_a_definite_result_closes_the_call_and_the_model_goes_on(outcome: ToolOutcome) -> None:
    scene, call_id = started()
    must(scene.finish(call_id, outcome))
    assert results(scene) == [("send", outcome)]
    must(scene.request())


def test_calls_of_a_step_run_side_by_side_and_the_step_ends_with_the_last() -> None:
    scene = Scene()
    first, second = scene.calling("look", "send")
    assert must(scene.look()).action == Work((ToolOp(1, first, 1), ToolOp(1, second, 1)))
    must(scene.start(second))
    must(scene.start(first))
    must(scene.finish(second))
    assert refused(scene.request()) == "not_due"
    must(scene.finish(first))
    must(scene.request())


def test_the_idempotency_key_is_the_turn_and_the_call_and_never_the_attempt() -> None:
    scene, call_id = started("idempotent")
    lose(scene)
    must(scene.start(call_id))
    keys = [e.payload.key for e in scene.machine.entries if isinstance(e.payload, ToolStarted)]
    assert keys == [f"{scene.turn}/{call_id}"] * 2


@pytest.mark.parametrize("effect", ["read", "idempotent"])
def test_a_lost_attempt_of_a_repeatable_call_is_tried_again(effect: Effect) -> None:
    scene, call_id = started(effect)
    lose(scene)
    assert must(scene.look()).action == Work((ToolOp(1, call_id, 2),))


def test_a_lost_attempt_of_a_once_call_is_asked_about_and_not_repeated() -> None:
    scene, call_id = started("once")
    lose(scene)
    assert scene.status.phase == "waiting"
    assert scene.active.interactions[0].kind == "unknown_outcome"
    assert refused(scene.start(call_id)) == "not_due"


def test_a_silent_worker_loses_a_repeatable_call_with_its_lease_and_a_once_call_only_after_the_grace() -> None:
    scene = Scene()
    reading, once = scene.calling("look", "send")
    must(scene.start(reading))
    must(scene.start(once))
    scene.machine.lapsed.add(scene.worker)
    must(scene.look())
    assert [c.state for c in scene.calls] == ["ready", "running"]
    scene.machine.expired.add(scene.worker)
    must(scene.look())
    assert [c.state for c in scene.calls] == ["ready", "unknown"]


def test_a_worker_that_comes_back_settles_what_is_still_open_and_is_late_for_the_rest() -> None:
    scene, call_id = started("read")
    scene.machine.lapsed.add(scene.worker)
    must(scene.look())
    scene.machine.lapsed.clear()
    must(scene.finish(call_id, text="I was only asleep"))
    assert results(scene) == [("look", "success")]
    assert must(scene.finish(call_id, ordinal=1)).types == []


def test_of_two_attempts_the_first_result_counts_and_the_other_is_late() -> None:
    scene, call_id = started("read")
    lose(scene)
    must(scene.start(call_id))
    must(scene.finish(call_id, ordinal=1, text="old"))
    late = must(scene.finish(call_id, ordinal=2, text="new")).entries[0].payload
    assert isinstance(late, ToolLate)
    assert (late.name, late.ordinal, late.output) == ("look", 2, (Text(text="new"),))
    assert [r.output for m in scene.machine.state.context for r in m.results] == [(Text(text="old"),)]


def test_a_result_that_comes_while_a_person_is_asked_settles_the_question() -> None:
    scene = Scene()
    call_id = scene.unknown()
    step = must(scene.finish(call_id))
    assert step.types == ["tool.finished", "interaction.resolved", "turn.continued"]
    resolved = step.entries[1].payload
    assert isinstance(resolved, InteractionResolved)
    assert resolved.resolution == "result_arrived"
    assert refused(scene.reconcile(call_id, "failed")) == "not_unknown"


def test_a_result_that_comes_after_a_person_answered_is_late() -> None:
    scene = Scene()
    call_id = scene.unknown()
    must(scene.reconcile(call_id, "failed"))
    assert must(scene.finish(call_id)).types == ["tool.late"]
    assert results(scene) == [("send", "error")]


def test_a_result_of_an_attempt_that_was_written_off_is_late_before_and_during_the_next() -> None:
    scene = Scene()
    call_id = scene.unknown()
    must(scene.reconcile(call_id, "run_again"))
    assert must(scene.finish(call_id, ordinal=1)).types == ["tool.late"]
    must(scene.start(call_id))
    assert must(scene.finish(call_id, ordinal=1, outcome="error")).types == []
    must(scene.finish(call_id, ordinal=2))
    assert results(scene) == [("send", "success")]


def test_a_once_call_runs_again_only_when_somebody_says_so_and_may_become_unknown_again() -> None:
    scene = Scene()
    call_id = scene.unknown()
    first = scene.active.interactions[0].interaction_id
    must(scene.reconcile(call_id, "run_again"))
    must(scene.start(call_id))
    lose(scene)
    assert scene.active.interactions[0].interaction_id != first
    assert scene.types().count("tool.started") == 2


def test_an_unknown_outcome_is_answered_with_reconcile_and_can_be_before_anybody_was_asked() -> None:
    scene, call_id = started()
    must(scene.pause())
    lose(scene)
    assert scene.active.interactions == ()
    must(scene.reconcile(call_id, "succeeded"))
    must(scene.resume())
    must(scene.request())


@pytest.mark.parametrize("reason", [None, "", "  "])
def test_nobody_says_what_became_of_a_call_without_saying_how_they_know(reason: str | None) -> None:
    scene, call_id = started()
    lose(scene)
    step = scene.reconcile(call_id, "succeeded", reason=reason)
    assert refused(step) == "reason_required"
    assert step.rejection is not None
    assert "how you know" in step.rejection.reason
    must(scene.reconcile(call_id, "succeeded", reason="it is in the bank's list"))


@pytest.mark.parametrize("ended", [False, True])
def test_who_says_second_what_became_of_a_call_hears_who_said_it_first(ended: bool) -> None:
    scene, call_id = started()
    lose(scene)
    must(scene.look())
    must(scene.reconcile(call_id, "failed", principal="bea"))
    if ended:
        must(scene.request())
        must(scene.respond_model())
    second = scene.reconcile(call_id, "succeeded")
    assert refused(second) == "not_unknown"
    assert second.rejection is not None
    assert f"q-{call_id}-1 was settled already by bea: failed" in second.rejection.reason


def test_the_tools_own_hook_is_asked_first_and_a_person_only_when_it_does_not_know() -> None:
    scene = Scene()
    call_id = scene.unknown("wire")
    assert must(scene.look()).action == Work((ReconcileOp(1, call_id, 1),))
    assert scene.status.phase == "running"
    step = must(scene.settle_call(call_id, "unknown"))
    assert step.types == ["interaction.requested", "turn.waiting"]
    assert refused(scene.settle_call(call_id, "succeeded")) == "not_unknown"


@pytest.mark.parametrize(("found", "outcome"), [("succeeded", "success"), ("failed", "error")])
def test_what_the_hook_knows_settles_the_call(found: str, outcome: str) -> None:
    scene = Scene()
    call_id = scene.unknown("wire")
    must(scene.settle_call(call_id, found))  # type: ignore[arg-type]
    assert results(scene) == [("wire", outcome)]


def test_a_hook_that_answers_about_an_earlier_attempt_is_not_believed_about_a_later_one() -> None:
    scene = Scene()
    call_id = scene.unknown("wire")
    must(scene.settle_call(call_id, "run_again"))
    must(scene.start(call_id))
    lose(scene)
    assert refused(scene.settle_call(call_id, "succeeded", ordinal=1)) == "not_unknown"
    must(scene.settle_call(call_id, "succeeded", ordinal=2))


def test_a_drained_attempt_hands_the_call_over_and_costs_nothing() -> None:
    scene, call_id = started("read")
    for ordinal in range(1, 20):
        must(scene.finish(call_id, "drained", ordinal=ordinal))
        must(scene.start(call_id))
    assert scene.calls[0].lost == 0


@pytest.mark.parametrize("outcome", ["interrupted", "unknown", "lost", "drained"])
def test_an_attempt_without_a_result_leaves_the_call_open_and_the_conversation_alone(outcome: ToolOutcome) -> None:
    scene, call_id = started("once")
    must(scene.finish(call_id, outcome))
    assert scene.calls[0].state == "unknown"
    assert results(scene) == []
    must(scene.finish(call_id, text="it was done after all"))
    assert results(scene) == [("send", "success")]


@pytest.mark.parametrize("ordinal", [0, 2])
def test_a_result_of_an_attempt_that_never_claimed_is_refused(ordinal: int) -> None:
    scene, call_id = started()
    assert refused(scene.finish(call_id, ordinal=ordinal)) == "no_claim"


def test_a_call_that_was_never_started_takes_no_result() -> None:
    scene = Scene(agent=asking("send"))
    (call_id,) = scene.calling("send")
    assert refused(scene.finish(call_id)) == "no_claim"
    assert scene.status.phase == "waiting"


def test_a_result_for_a_call_of_an_earlier_step_is_late() -> None:
    scene, call_id = started("read")
    must(scene.finish(call_id))
    must(scene.request())
    late = must(scene.finish(call_id, ordinal=2, step=1, name="read"))
    assert late.types == ["tool.late"]
    assert isinstance(late.decided[0].payload, ToolLate)
    assert late.decided[0].payload.name == "read"


def test_a_tool_the_agent_does_not_have_is_an_error_the_model_sees_and_the_turn_goes_on() -> None:
    scene = Scene().thinking()
    step = must(scene.respond_model(call("no such tool"), call("look")))
    assert step.types == ["model.responded", "tool.decided", "tool.finished", "tool.decided"]
    assert results(scene) == [("no such tool", "error")]
    assert [c.name for c in scene.calls] == ["look"]


def test_an_answer_with_only_unknown_tools_leads_to_the_next_step() -> None:
    scene = Scene().thinking()
    must(scene.respond_model(call("x" * 1_000_000)))
    assert len(scene.machine.control.model_dump_json()) < 10_000
    must(scene.request())


def test_more_calls_than_a_step_may_make_are_refused_one_by_one() -> None:
    scene = Scene().thinking()
    must(scene.respond_model(*(call("look") for _ in range(CALLS_PER_STEP_MAX + 2))))
    decided = [e.payload for e in scene.machine.entries if isinstance(e.payload, ToolDecided)]
    assert [payload.source for payload in decided[-3:]] == ["read", "too_many_calls", "too_many_calls"]
    assert len(scene.calls) == CALLS_PER_STEP_MAX
    assert len(results(scene)) == 2


def test_call_ids_of_a_provider_that_repeat_within_and_across_steps_name_different_calls() -> None:
    scene = Scene().thinking()
    for step in (1, 2):
        must(scene.respond_model(call("look", "call_0"), call("look", "call_0")))
        for known in scene.calls:
            must(scene.start(known.call_id))
            must(scene.finish(known.call_id, text=f"{step} {known.call_id}"))
        must(scene.request())
    asked = [c for m in scene.machine.state.context for c in m.calls]
    answered = {r.id: r.output[0] for m in scene.machine.state.context for r in m.results}
    assert len({c.id for c in asked}) == 4
    assert all(isinstance(text, Text) and text.text.endswith(call_id) for call_id, text in answered.items())


def test_call_ids_of_two_turns_of_a_thread_differ() -> None:
    scene = Scene()
    first = scene.calling("look")
    must(scene.cancel())
    assert not set(first) & set(scene.calling("look"))


def test_malformed_arguments_are_kept_as_they_came() -> None:
    scene = Scene().thinking()
    must(scene.respond_model(ToolCall(id="x", name="look", malformed='{"path": ')))
    (asked,) = scene.machine.state.context[-1].calls
    assert asked.malformed == '{"path": '
