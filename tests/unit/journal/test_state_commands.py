"""What changes an agent's state besides messages: tools' operations, trusted callers' and administrators' changes."""

from collections.abc import Callable
from typing import Any

import pytest

from tests.unit.journal.agent import asking
from tests.unit.journal.scene import Scene, call, must, refused, rules
from turnwright.journal.budgets import Budget
from turnwright.journal.entries import TasksChanged, ToolFinished
from turnwright.journal.messages import Text
from turnwright.journal.state_ops import (
    ActivateGroups,
    AddVerification,
    BeginTask,
    DeactivateGroups,
    EnterPlan,
    LeavePlan,
    ProposeRequirement,
    StateOp,
    WriteTodos,
)
from turnwright.journal.state_parts import Todo

TODO = WriteTodos(todos=(Todo(id="1", subject="measure"),))


def started(name: str = "put") -> tuple[Scene, str]:
    scene = Scene()
    (call_id,) = scene.calling(name)
    must(scene.start(call_id))
    return scene, call_id


# -- of tools ------------------------------------------------------------------------------------------


def test_what_a_tool_changes_stands_in_the_same_batch_as_its_result() -> None:
    scene, call_id = started()
    step = must(scene.finish(call_id, ops=(TODO, ActivateGroups(groups=("more",)), EnterPlan())))
    assert [e.type for e in step.decided] == ["tool.finished", "tasks.changed", "tools.changed", "plan.changed"]
    state = scene.machine.state
    assert [todo.subject for todo in state.tasks.todos] == ["measure"]
    assert (state.tools, state.plan.active) == (("more",), True)


def test_the_journal_says_which_call_changed_the_state() -> None:
    scene, call_id = started()
    must(scene.finish(call_id, ops=(TODO,)))
    (changed,) = [e for e in scene.machine.entries if isinstance(e.payload, TasksChanged)]
    assert isinstance(changed.payload, TasksChanged)
    assert (changed.payload.principal, changed.turn_id) == (f"tool:{call_id}", scene.turn)


def test_each_operation_of_a_tool_acts_on_what_the_one_before_it_left() -> None:
    scene, call_id = started()
    must(scene.finish(call_id, ops=(TODO, TODO, ProposeRequirement(text="It fits."))))
    assert scene.machine.state.tasks.revision == 3


@pytest.mark.parametrize(
    ("ops", "words"),
    [
        ((TODO, LeavePlan()), "No plan is active"),
        ((WriteTodos(todos=TODO.todos, expected_revision=7),), "revision"),
        ((ActivateGroups(groups=("none such",)),), "There is no tool group"),
        ((BeginTask(objective="mine"),), "Only a trusted caller"),
        ((TODO, AddVerification(requirement="r", passed=True, summary="s")), "Only a trusted caller"),
        ((DeactivateGroups(groups=("more",)),), "Only a trusted caller"),
    ],
)
def test_an_operation_that_is_refused_makes_the_result_an_error_and_changes_nothing(
    ops: tuple[StateOp, ...], words: str
) -> None:
    scene, call_id = started()
    before = scene.machine.state
    step = must(scene.finish(call_id, ops=ops))
    assert [e.type for e in step.decided] == ["tool.finished"]
    finished = step.decided[0].payload
    assert isinstance(finished, ToolFinished)
    assert finished.outcome == "error"
    assert [words in block.text for block in finished.output if isinstance(block, Text)] == [True]
    after = scene.machine.state
    assert (after.tasks, after.plan, after.tools) == (before.tasks, before.plan, before.tools)
    must(scene.request())


def test_a_late_result_changes_no_state() -> None:
    scene, call_id = started()
    scene.machine.dead.add(scene.worker)
    scene.worker = "w2"
    must(scene.start(call_id))
    must(scene.finish(call_id, ordinal=2))
    assert must(scene.finish(call_id, ops=(TODO,))).types == ["tool.late"]
    assert scene.machine.state.tasks.todos == ()


def test_a_result_that_settles_an_unknown_outcome_brings_its_operations_too() -> None:
    scene = Scene()
    call_id = scene.unknown()
    step = must(scene.finish(call_id, ops=(TODO,)))
    assert [e.type for e in step.decided] == ["tool.finished", "interaction.resolved", "tasks.changed"]


def test_operations_of_siblings_act_one_after_the_other() -> None:
    scene = Scene()
    first, second = scene.calling("put", "put")
    must(scene.start(first))
    must(scene.start(second))
    must(scene.finish(second, ops=(ProposeRequirement(text="It fits."),)))
    must(scene.finish(first, ops=(ProposeRequirement(text="It is blue."),)))
    assert [r.text for r in scene.machine.state.tasks.requirements] == ["It fits.", "It is blue."]


# -- of trusted callers --------------------------------------------------------------------------------


@pytest.mark.parametrize("when", ["queued", "running", "busy", "paused"])
def test_a_trusted_caller_may_do_an_operation_at_any_time(when: str) -> None:
    scene = Scene()
    must(scene.submit())
    if when != "queued":
        must(scene.claim())
    if when == "busy":
        must(scene.request())
    if when == "paused":
        must(scene.pause())
    assert must(scene.do(BeginTask(objective="sell", requirements=("It fits.",)))).types == ["tasks.changed"]
    assert scene.machine.state.tasks.objective == "sell"


def test_an_operation_of_a_caller_that_is_refused_says_why_and_changes_nothing() -> None:
    scene = answered()
    before = scene.machine.control
    step = scene.do(LeavePlan())
    assert refused(step) == "refused"
    assert step.rejection is not None
    assert "No plan is active" in step.rejection.reason
    assert scene.machine.control == before


# -- of administrators -----------------------------------------------------------------------------------

CHANGE: dict[str, Callable[[Scene], Any]] = {
    "update": lambda scene: scene.update(summary="all that was"),
    "clear": lambda scene: scene.clear(),
}


def answered() -> Scene:
    """A thread whose only turn completed."""
    scene = Scene().thinking()
    must(scene.respond_model())
    return scene


@pytest.mark.parametrize("how", CHANGE)
def test_the_state_may_be_changed_while_no_turn_is_active(how: str) -> None:
    assert must(CHANGE[how](answered())).types == ["state.updated" if how == "update" else "context.cleared"]


@pytest.mark.parametrize("how", CHANGE)
@pytest.mark.parametrize("busy", [False, True])
def test_the_state_is_not_changed_under_a_running_turn(how: str, busy: bool) -> None:
    scene = Scene().thinking() if busy else Scene().running()
    before = scene.machine.state
    assert refused(CHANGE[how](scene)) == "turn_active"
    assert scene.machine.state == before


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ({"tasks": {"todos": [{"id": str(n), "subject": "x"} for n in range(5_000)]}}, "too many"),
        ({"tasks": {"todos": [{"id": "1", "subject": "x"}] * 2}}, "an id of its own"),
        ({"tasks": {"todos": [{"id": "1", "subject": "x", "blocks": ["2"]}]}}, "not in the list"),
        ({"tasks": {"todos": [{"id": "1", "subject": "x", "blocks": ["1"]}]}}, "tasks: "),
        ({"tasks": {"requirements": [{"id": "r1", "text": "x"}] * 2}}, "an id of its own"),
        ({"tasks": {"verifications": [{"requirement": "r", "passed": True, "summary": "x"}] * 201}}, "too many"),
        ({"plan": {"document": "x" * 1_000_000}}, "plan: The plan has 1,000,000 bytes"),
    ],
)
def test_a_state_that_is_replaced_keeps_the_bounds_of_operations(changes: dict[str, Any], told: str) -> None:
    step = answered().update(**changes)
    assert refused(step) == "invalid_changes"
    assert step.rejection is not None
    assert told in step.rejection.reason


@pytest.mark.parametrize("revision", [-5, 10**30])
def test_tasks_that_are_replaced_have_the_next_revision_whatever_is_given(revision: int) -> None:
    scene = answered()
    must(scene.update(tasks={"revision": revision, "todos": [{"id": "1", "subject": "x"}]}))
    assert scene.machine.state.tasks.revision == 1


def test_a_failed_turn_whose_context_was_cleared_is_tried_no_more_for_its_task_is_gone() -> None:
    scene = Scene().failed()
    must(scene.clear())
    assert refused(scene.retry()) == "later_turn_started"


def test_what_a_failed_turn_had_not_shown_a_model_goes_with_the_context_that_is_cleared() -> None:
    scene = Scene().thinking()
    must(scene.steer("and this"))
    must(scene.fail_model("invalid"))
    assert scene.status.phase == "failed"
    assert must(scene.clear()).types == ["input.discarded", "context.cleared"]
    assert scene.machine.state.inbox == ()


def test_the_state_may_be_updated_while_the_turn_is_paused_between_its_steps() -> None:
    scene = Scene().thinking()
    must(scene.pause())
    must(scene.respond_model(call("no such tool")))
    assert refused(scene.clear()) == "turn_active", "its next request would have no message of anybody"
    must(scene.update(summary="all that was"))
    must(scene.resume())
    must(scene.request())


def test_the_state_may_be_updated_while_the_turn_waits_for_its_budget_to_be_raised() -> None:
    scene = Scene()
    must(scene.submit(budget=Budget(steps=1)))
    must(scene.claim())
    must(scene.request())
    must(scene.respond_model(call("no such tool")))
    assert scene.status.phase == "waiting"
    must(scene.update(summary="all that was"))
    must(scene.respond("raise"))
    must(scene.request())


@pytest.mark.parametrize("state", ["ready", "asking", "deferred", "unknown"])
def test_the_state_is_not_updated_while_a_call_has_no_result(state: str) -> None:
    scene = Scene(agent=asking("wire"))
    match state:
        case "ready":
            scene.calling("send")
        case "asking":
            scene.calling("wire")
        case "deferred":
            scene.deferred()
        case _:
            scene.unknown()
    must(scene.pause())
    assert refused(scene.update(summary="all that was")) == "open_calls"


def test_a_change_that_was_made_from_an_older_state_is_told_the_number_it_must_read() -> None:
    scene = answered()
    read = scene.machine.control.seq
    must(scene.inject())
    for step in (scene.update(seq=read, summary="x"), scene.clear(seq=read)):
        assert refused(step) == "stale_seq"
        assert step.rejection is not None
        assert f"at entry {read + 1}, not {read}" in step.rejection.reason
    must(scene.update(summary="x"))


def test_what_became_due_makes_a_change_stale_for_the_state_is_another_now() -> None:
    scene = Scene(agent=asking("send", deadline_s=60))
    scene.calling("send")
    must(scene.pause())
    read = scene.machine.control.seq
    scene.wait(61)
    assert refused(scene.update(seq=read, summary="x")) == "stale_seq"
    must(scene.update(summary="x"))


@pytest.mark.parametrize(
    "changes",
    [
        {},
        {"permissions": {"mode": "bypass"}},
        {"agent": None},
        {"nothing": 1},
        {"summary": 5},
        {"tools": ["none such"]},
        {"tasks": {"todos": [{"subject": "no id"}]}},
        {"context": [{"role": "nobody"}]},
    ],
)
def test_a_change_of_what_cannot_be_changed_so_is_rejected(changes: dict[str, Any]) -> None:
    scene = answered()
    before = (scene.machine.state, scene.machine.control)
    assert refused(scene.update(**changes)) == "invalid_changes"
    assert (scene.machine.state, scene.machine.control) == before


def test_a_cleared_context_is_empty_and_everything_else_is_kept() -> None:
    scene = answered()
    must(scene.do(BeginTask(objective="sell")))
    must(scene.permit(rules("deny", "send")))
    must(scene.update(tools=["more"], plan={"active": True, "document": "first look"}))
    before, entries = scene.machine.state, list(scene.machine.entries)
    must(scene.clear())
    after = scene.machine.state
    assert (after.context, after.summary) == ((), "")
    kept = {"context": before.context, "summary": before.summary, "as_of_seq": before.as_of_seq}
    assert after.model_copy(update=kept) == before
    assert scene.machine.entries[: len(entries)] == entries


def test_an_update_replaces_whole_fields_and_leaves_the_others() -> None:
    scene = answered()
    before = scene.machine.state
    must(scene.update(tools=["more"], plan={"active": False, "document": "first look"}))
    after = scene.machine.state
    assert (after.tools, after.plan.document) == (("more",), "first look")
    assert (after.context, after.tasks, after.permissions) == (before.context, before.tasks, before.permissions)
