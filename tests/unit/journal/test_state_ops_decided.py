"""Operations on the state in transactions: with the result of a call, or as a trusted caller's command."""

import pytest

from tests.unit.journal.scene import Scene, must, refused
from turnwright.journal.agent_state import AgentState
from turnwright.journal.evolve_state import fold_state
from turnwright.journal.messages import ToolResult
from turnwright.journal.state_ops import (
    ActivateGroups,
    AddVerification,
    DeactivateGroups,
    DecideRequirement,
    EnterPlan,
    LeavePlan,
    ProposeRequirement,
    StateOp,
    WriteTodos,
)
from turnwright.journal.state_parts import Todo
from turnwright.journal.view import offered_tools


def finished(scene: Scene, *ops: StateOp) -> ToolResult:
    """The result of a call that ends with these operations."""
    (call_id,) = scene.calling("look")
    must(scene.start(call_id))
    must(scene.finish(call_id, ops=ops))
    return [result for message in scene.machine.state.context for result in message.results][-1]


def text(result: ToolResult) -> str:
    return "".join(getattr(block, "text", "") for block in result.output)


def test_what_a_call_changes_is_recorded_right_behind_its_result_and_on_its_word() -> None:
    scene = Scene()
    (call_id,) = scene.calling("look")
    must(scene.start(call_id))
    step = must(scene.finish(call_id, ops=(EnterPlan(), WriteTodos(todos=(Todo(id="a", subject="look"),)))))
    assert [entry.type for entry in step.decided] == ["tool.finished", "plan.changed", "tasks.changed"]
    assert {getattr(entry.payload, "principal", None) for entry in step.decided[1:]} == {f"tool:{call_id}"}
    assert scene.machine.control.planning
    assert scene.machine.state.tasks.revision == 1
    assert fold_state(AgentState(), scene.machine.entries).tasks == scene.machine.state.tasks


def test_a_refused_change_is_the_calls_error_and_nothing_of_it_is_kept() -> None:
    scene = Scene()
    result = finished(scene, EnterPlan(), LeavePlan(), LeavePlan())
    assert (result.outcome, text(result)) == ("error", "No plan is active, so there is none to leave.")
    assert "plan.changed" not in scene.types()
    assert not scene.machine.control.planning


@pytest.mark.parametrize(
    "op", [DecideRequirement(id="r1", verdict="confirmed"), DeactivateGroups(groups=("more",))], ids=lambda op: op.op
)
def test_what_only_a_trusted_caller_may_do_no_tool_does(op: StateOp) -> None:
    scene = Scene()
    result = finished(scene, ProposeRequirement(text="fast"), op)
    assert result.outcome == "error"
    assert scene.machine.state.tasks.requirements == ()


def test_a_late_result_changes_nothing() -> None:
    scene = Scene()
    (call_id,) = scene.calling("look")
    must(scene.start(call_id))
    must(scene.finish(call_id, ops=(ProposeRequirement(text="fast"),)))
    step = must(scene.finish(call_id, ops=(ProposeRequirement(text="small"),)))
    assert "tasks.changed" not in step.types
    assert [known.text for known in scene.machine.state.tasks.requirements] == ["fast"]


def test_a_trusted_caller_settles_what_was_proposed_while_the_turn_runs() -> None:
    scene = Scene()
    finished(scene, ProposeRequirement(text="fast"))
    must(scene.do(DecideRequirement(id="r1", verdict="confirmed")))
    must(scene.do(AddVerification(requirement="r1", passed=False, summary="slow")))
    (known,) = scene.machine.state.tasks.requirements
    assert (known.state, known.settled_by, known.settled_at is None) == ("confirmed", "ann", False)
    assert scene.status.phase == "running"
    assert refused(scene.do(DecideRequirement(id="r9", verdict="confirmed"))) == "refused"


def test_groups_are_those_of_the_pinned_agent() -> None:
    assert "there are: more" in text(finished(Scene(), ActivateGroups(groups=("less",))))
    scene = Scene()
    assert finished(scene, ActivateGroups(groups=("more",))).outcome == "success"
    assert "extra" in {tool.name for tool in offered_tools(scene.machine.state)}
    must(scene.do(DeactivateGroups(groups=("more",))))
    assert "extra" not in {tool.name for tool in offered_tools(scene.machine.state)}
