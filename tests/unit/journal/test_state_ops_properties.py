"""Whatever operations come in whatever order, the state stays sound and is what its entries say."""

from graphlib import TopologicalSorter

from hypothesis import given
from hypothesis import strategies as st
from pydantic import TypeAdapter

from turnwright.journal.agent_state import AgentState
from turnwright.journal.entries import Draft, TasksChanged
from turnwright.journal.evolve_state import evolve_state
from turnwright.journal.state_ops import (
    TRUSTED,
    ActivateGroups,
    AddVerification,
    BeginTask,
    DeactivateGroups,
    DecideObjective,
    DecideRequirement,
    EnterPlan,
    LeavePlan,
    ProposeObjective,
    ProposeRequirement,
    Refusal,
    StateOp,
    WriteMemory,
    WritePlan,
    WriteTodos,
    apply_op,
    changed,
)
from turnwright.journal.state_ops.limits import REQUIREMENTS_MAX, TODOS_MAX, VERIFICATIONS_KEPT_MAX
from turnwright.journal.state_parts import TaskState, Todo

GROUPS = ("files", "web")
IDS = st.sampled_from(["a", "b", "c", "d"])
WORDS = st.text("ab \x00\ud800é", max_size=4)
GROUP_LISTS = st.lists(st.sampled_from([*GROUPS, "gone"]), max_size=2).map(tuple)
VERDICTS = st.sampled_from(["confirmed", "rejected"])
REQUIREMENT_IDS = st.sampled_from(["r1", "r2", "r3"])
EDGES = st.lists(IDS, max_size=2).map(tuple)
TODOS = st.builds(Todo, id=IDS, subject=WORDS, blocks=EDGES, blocked_by=EDGES)
OPS: st.SearchStrategy[StateOp] = st.one_of(
    st.builds(
        WriteTodos,
        todos=st.lists(TODOS, max_size=4, unique_by=lambda todo: todo.id).map(tuple),
        expected_revision=st.none() | st.integers(0, 5),
    ),
    st.builds(ProposeObjective, text=WORDS),
    st.builds(ProposeRequirement, text=WORDS, id=st.none() | REQUIREMENT_IDS),
    st.builds(BeginTask, objective=WORDS, requirements=st.lists(WORDS, max_size=3).map(tuple)),
    st.builds(DecideObjective, verdict=VERDICTS),
    st.builds(DecideRequirement, id=REQUIREMENT_IDS, verdict=VERDICTS),
    st.builds(AddVerification, requirement=REQUIREMENT_IDS, passed=st.booleans(), summary=WORDS),
    st.builds(EnterPlan),
    st.builds(WritePlan, document=WORDS),
    st.builds(LeavePlan),
    st.builds(WriteMemory, document=WORDS, expected_revision=st.none() | st.integers(0, 5)),
    st.builds(ActivateGroups, groups=GROUP_LISTS),
    st.builds(DeactivateGroups, groups=GROUP_LISTS),
)


def check(tasks: TaskState) -> None:
    waits_for = {todo.id: set(todo.blocked_by) for todo in tasks.todos}
    assert len(waits_for) == len(tasks.todos) <= TODOS_MAX
    assert {(todo.id, other) for todo in tasks.todos for other in todo.blocks} == {
        (other, todo.id) for todo in tasks.todos for other in todo.blocked_by
    }
    TopologicalSorter(waits_for).prepare()
    assert len({known.id for known in tasks.requirements}) == len(tasks.requirements) <= REQUIREMENTS_MAX
    assert len(tasks.verifications) <= VERIFICATIONS_KEPT_MAX
    assert {found.requirement for found in tasks.verifications} <= {known.id for known in tasks.requirements}


def settled(tasks: TaskState) -> dict[str, object]:
    known: dict[str, object] = {r.id: r for r in tasks.requirements if r.state != "proposed"}
    return known | ({"objective": tasks.objective} if tasks.objective_state == "confirmed" else {})


@given(st.lists(OPS, max_size=12))
def test_any_sequence_keeps_the_state_sound_and_its_entries_tell_it_whole(ops: list[StateOp]) -> None:
    state = told = AgentState()
    for seq, op in enumerate(ops, start=1):
        change = apply_op(op, state, GROUPS, by="ada")
        assert apply_op(op, state, GROUPS, by="ada") == change
        if isinstance(change, Refusal):
            assert change.message
            continue
        before, state = state, changed(state, change)
        told = evolve_state(told, Draft(str(seq), type(change).model_validate_json(change.body())).at(seq, 0))
        assert told.model_copy(update={"as_of_seq": 0}) == state
        assert state.tasks.revision == before.tasks.revision + isinstance(change, TasksChanged)
        check(state.tasks)
        assert set(state.tools) <= set(GROUPS)
        if not isinstance(op, TRUSTED):
            assert settled(before.tasks).items() <= settled(state.tasks).items()


@given(OPS)
def test_an_operation_is_data_that_is_read_back_as_it_was_written(op: StateOp) -> None:
    adapter: TypeAdapter[StateOp] = TypeAdapter(StateOp)
    assert adapter.validate_python(adapter.dump_python(op)) == op
