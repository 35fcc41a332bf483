"""Operations on tasks, plan and tool groups: what they make, and what they refuse with words."""

import pytest

from turnwright.journal.agent_state import AgentState
from turnwright.journal.entries import MemoryChanged, PlanChanged, TasksChanged, ToolsChanged
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
    apply_ops,
    changed,
)
from turnwright.journal.state_ops.limits import (
    MEMORY_DOCUMENT_BYTES_MAX,
    PLAN_DOCUMENT_BYTES_MAX,
    REQUIREMENTS_MAX,
    TEXT_CHARACTERS_MAX,
    TODOS_MAX,
    VERIFICATIONS_KEPT_MAX,
)
from turnwright.journal.state_parts import TaskState, Todo

GROUPS = ("files", "web")
NOTHING = AgentState()


def after(*ops: StateOp, state: AgentState = NOTHING) -> AgentState:
    for op in ops:
        change = apply_op(op, state, GROUPS, by="ada", at="2026-01-01T00:00:00+00:00")
        assert not isinstance(change, Refusal), change.message
        state = changed(state, change)
    return state


def refused(op: StateOp, state: AgentState = NOTHING) -> str:
    change = apply_op(op, state, GROUPS)
    assert isinstance(change, Refusal)
    return change.message


def todo(id_: str, *, blocks: tuple[str, ...] = (), blocked_by: tuple[str, ...] = ()) -> Todo:
    return Todo(id=id_, subject=f"do {id_}", blocks=blocks, blocked_by=blocked_by)


def write(*todos: Todo, expected_revision: int | None = None) -> WriteTodos:
    return WriteTodos(todos=todos, expected_revision=expected_revision)


# -- todos


def test_a_dependency_stands_at_both_ends_whichever_said_it() -> None:
    tasks = after(write(todo("a", blocks=("b",)), todo("b"), todo("c", blocked_by=("b",)))).tasks
    assert [(t.id, t.blocks, t.blocked_by) for t in tasks.todos] == [
        ("a", ("b",), ()),
        ("b", ("c",), ("a",)),
        ("c", (), ("b",)),
    ]
    assert tasks.revision == 1


@pytest.mark.parametrize(
    ("todos", "said"),
    [
        ((todo("a"), todo("a")), "several have 'a'"),
        ((todo("a", blocks=("z",)),), "not in the list: 'z'"),
        ((todo("a", blocked_by=("a",)),), "circle: a -> a"),
        ((todo("a", blocks=("b",)), todo("b", blocks=("a",))), "circle"),
        ((Todo(id="", subject="x"),), "id of a todo is empty"),
        ((Todo(id="a", subject=" "),), "subject of todo 'a' is empty"),
        ((Todo(id="a", subject="x", description="x" * (TEXT_CHARACTERS_MAX + 1)),), "Shorten it"),
        (tuple(todo(str(n)) for n in range(TODOS_MAX + 1)), "too many"),
        (tuple(Todo(id=str(n), subject="x", description="x" * TEXT_CHARACTERS_MAX) for n in range(100)), "bytes"),
    ],
)
def test_a_list_that_cannot_be_is_refused_with_what_to_do(todos: tuple[Todo, ...], said: str) -> None:
    assert said in refused(write(*todos))


def test_a_stale_write_is_refused_with_the_current_number() -> None:
    state = after(write(todo("a")), write(todo("b")))
    assert "revision 2, not 1" in refused(write(expected_revision=1), state)
    assert after(write(expected_revision=2), state=state).tasks == TaskState(revision=3)


# -- objective and requirements


def test_what_a_tool_proposes_a_trusted_caller_settles() -> None:
    state = after(ProposeObjective(text="ship it"), ProposeRequirement(text="fast"), ProposeRequirement(text="small"))
    tasks = after(
        DecideObjective(verdict="confirmed"),
        DecideRequirement(id="r1", verdict="confirmed"),
        DecideRequirement(id="r2", verdict="rejected", reason="size is no matter"),
        state=state,
    ).tasks
    assert (tasks.objective, tasks.objective_state, tasks.objective_settled_by) == ("ship it", "confirmed", "ada")
    assert [(r.id, r.state, r.settled_by, r.reason) for r in tasks.requirements] == [
        ("r1", "confirmed", "ada", None),
        ("r2", "rejected", "ada", "size is no matter"),
    ]
    assert {r.settled_at for r in tasks.requirements} == {"2026-01-01T00:00:00+00:00"}
    assert tasks.revision == 6


@pytest.mark.parametrize("verdict", ["confirmed", "rejected"])
def test_what_is_settled_no_tool_changes(verdict: str) -> None:
    state = after(
        ProposeObjective(text="ship it"),
        ProposeRequirement(text="fast"),
        DecideObjective.model_validate({"verdict": verdict}),
        DecideRequirement.model_validate({"id": "r1", "verdict": verdict}),
    )
    assert verdict in refused(ProposeObjective(text="ship it"), state)
    assert verdict in refused(ProposeRequirement(text="faster", id="r1"), state)
    assert verdict in refused(ProposeRequirement(text="fast"), state)


def test_another_objective_may_be_proposed_after_a_rejection_only() -> None:
    state = after(ProposeObjective(text="one"), DecideObjective(verdict="rejected"), ProposeObjective(text="two"))
    assert (state.tasks.objective, state.tasks.objective_state) == ("two", "proposed")
    confirmed = after(DecideObjective(verdict="confirmed"), state=state)
    assert "only the user changes it" in refused(ProposeObjective(text="three"), confirmed)


def test_a_proposal_can_be_reworded_and_a_person_may_settle_anew() -> None:
    state = after(ProposeRequirement(text="fast"), ProposeRequirement(text="very fast", id="r1"))
    assert [r.text for r in state.tasks.requirements] == ["very fast"]
    state = after(
        DecideRequirement(id="r1", verdict="rejected"), DecideRequirement(id="r1", verdict="confirmed"), state=state
    )
    assert state.tasks.requirements[0].state == "confirmed"


def test_what_is_not_there_is_named_with_what_is() -> None:
    state = after(ProposeRequirement(text="fast"))
    for op in (
        ProposeRequirement(text="x", id="r9"),
        DecideRequirement(id="r9", verdict="confirmed"),
        AddVerification(requirement="r9", passed=True, summary="ok"),
    ):
        assert refused(op, state) == "There is no requirement 'r9'; there are: r1."
    assert "no objective" in refused(DecideObjective(verdict="confirmed"))


@pytest.mark.parametrize(
    "op",
    [
        ProposeRequirement(text="x", id="r" * 100_000),
        ActivateGroups(groups=("g" * 100_000,)),
        write(todo("a", blocks=("z" * 100_000,))),
        write(todo("a", blocked_by=tuple(f"{n}" + "z" * 10_000 for n in range(100)))),
    ],
)
def test_a_refusal_names_no_more_than_fits_an_answer(op: StateOp) -> None:
    assert len(refused(op, after(ProposeRequirement(text="fast")))) < 3_000


def test_requirements_are_bounded() -> None:
    state = after(BeginTask(objective="x", requirements=tuple(f"number {n}" for n in range(REQUIREMENTS_MAX))))
    assert str(REQUIREMENTS_MAX) in refused(ProposeRequirement(text="one more"), state)


def test_verifications_are_kept_to_a_number_the_oldest_go() -> None:
    ops = [AddVerification(requirement="r1", passed=n % 2 == 0, summary=str(n)) for n in range(210)]
    tasks = after(BeginTask(objective="x", requirements=("fast",)), *ops).tasks
    assert len(tasks.verifications) == VERIFICATIONS_KEPT_MAX
    assert [tasks.verifications[0].summary, tasks.verifications[-1].summary] == ["10", "209"]
    assert tasks.verifications[0].by == "ada"


def test_a_task_that_begins_leaves_nothing_of_the_one_before_but_the_revision() -> None:
    state = after(
        BeginTask(objective="one", requirements=("fast",)),
        write(todo("a")),
        AddVerification(requirement="r1", passed=True, summary="ok", subject="commit 1"),
        BeginTask(objective="two", requirements=("small",)),
    )
    tasks = state.tasks
    assert (tasks.objective, tasks.todos, tasks.verifications, tasks.revision) == ("two", (), (), 4)
    assert [(r.id, r.text, r.state) for r in tasks.requirements] == [("r1", "small", "confirmed")]


def test_progress_of_todos_confirms_nothing_and_a_passed_check_completes_nothing() -> None:
    state = after(
        ProposeRequirement(text="fast"),
        write(todo("a").model_copy(update={"state": "completed"})),
        AddVerification(requirement="r1", passed=True, summary="ok"),
    )
    assert state.tasks.requirements[0].state == "proposed"
    assert {field for field in AgentState.model_fields if getattr(state, field) != getattr(NOTHING, field)} == {"tasks"}


# -- plan and groups


def test_a_plan_is_entered_written_and_left_and_its_document_stays() -> None:
    state = after(EnterPlan(), WritePlan(document="first this"), LeavePlan())
    assert (state.plan.active, state.plan.document) == (False, "first this")
    assert after(EnterPlan(), state=state).plan.document == "first this"


def test_what_a_plan_refuses() -> None:
    active = after(EnterPlan())
    assert "active already" in refused(EnterPlan(), active)
    assert "none to leave" in refused(LeavePlan())
    assert "Enter a plan first" in refused(WritePlan(document="x"))
    assert "Shorten" in refused(WritePlan(document="é" * (PLAN_DOCUMENT_BYTES_MAX // 2 + 1)), active)
    after(WritePlan(document="é" * (PLAN_DOCUMENT_BYTES_MAX // 2)), state=active)


def test_groups_the_agent_has_are_activated_once_and_deactivated() -> None:
    state = after(ActivateGroups(groups=("web",)), ActivateGroups(groups=("web", "files")))
    assert state.tools == ("files", "web")
    assert after(DeactivateGroups(groups=("web", "gone")), state=state).tools == ("files",)
    assert refused(ActivateGroups(groups=("web", "gone"))) == "There is no tool group 'gone'; there are: files, web."


# -- memory


def test_the_memory_is_written_as_a_whole_and_every_write_is_a_revision() -> None:
    state = after(
        WriteMemory(document="She likes tea."), WriteMemory(document="She likes coffee.", expected_revision=1)
    )
    assert (state.memory.revision, state.memory.document) == (2, "She likes coffee.")
    assert "at revision 2, not 1" in refused(WriteMemory(document="x", expected_revision=1), state)
    largest = "é" * (MEMORY_DOCUMENT_BYTES_MAX // 2)
    assert after(WriteMemory(document=largest)).memory.document == largest
    assert "Shorten it" in refused(WriteMemory(document=f"{largest}!"))


# -- all of them


def test_each_kind_of_operation_becomes_its_entry() -> None:
    ops = (write(), EnterPlan(), WriteMemory(document="x"), ActivateGroups(groups=()))
    kinds = {type(apply_op(op, NOTHING, GROUPS)) for op in ops}
    assert kinds == {TasksChanged, PlanChanged, MemoryChanged, ToolsChanged}


def test_several_operations_are_applied_all_or_none() -> None:
    changes = apply_ops((EnterPlan(), WritePlan(document="x"), LeavePlan()), NOTHING)
    assert not isinstance(changes, Refusal)
    assert [type(change) for change in changes] == [PlanChanged] * 3
    assert isinstance(apply_ops((EnterPlan(), EnterPlan()), NOTHING), Refusal)


def test_operations_of_trusted_callers_are_marked() -> None:
    trusted = {op.__name__ for op in TRUSTED}
    assert trusted == {"BeginTask", "DecideObjective", "DecideRequirement", "AddVerification", "DeactivateGroups"}
