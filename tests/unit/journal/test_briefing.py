"""The briefing says what is true now, in words that tell what was proposed from what was confirmed."""

from hypothesis import given
from hypothesis import strategies as st

from turnwright.journal.agent_state import AgentState
from turnwright.journal.agents import AgentDefinition, ToolSpec
from turnwright.journal.briefing import briefing
from turnwright.journal.context.tokens import fixed_tokens
from turnwright.journal.messages import Message, ToolCall, user
from turnwright.journal.state_ops import (
    ActivateGroups,
    AddVerification,
    BeginTask,
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
    apply_ops,
    changed,
)
from turnwright.journal.state_parts import PlanState, Requirement, TaskState, Todo, Verification
from turnwright.journal.view import BRIEFING, offered_tools, request_messages

TOOLS = (
    ToolSpec(name="look"),
    ToolSpec(name="fetch", group="web"),
    ToolSpec(name="post", group="web"),
    ToolSpec(name="edit", group="files"),
)
STATE = AgentState(agent=AgentDefinition(name="helper", model="m", tools=TOOLS[:1]))
GROUPED = AgentState(agent=AgentDefinition(name="helper", model="m", tools=TOOLS))


def after(*ops: StateOp, state: AgentState = STATE) -> AgentState:
    changes = apply_ops(ops, state, ("web", "files"))
    assert not isinstance(changes, Refusal), changes.message
    for change in changes:
        state = changed(state, change)
    return state


def test_there_is_no_briefing_while_there_is_nothing_to_say() -> None:
    assert briefing(AgentState()) == briefing(STATE) == ""
    assert request_messages(STATE.model_copy(update={"context": (user("hi"),)})) == (user("hi"),)
    finished = Todo(id="a", subject="x", state="completed")
    assert briefing(after(WriteTodos(todos=(finished,)))) == ""


def test_what_is_remembered_is_told_with_its_revision_and_takes_of_the_budget() -> None:
    remembering = after(WriteMemory(document="She likes tea."))
    told = briefing(remembering, "She is a member.")
    assert "What is remembered on this thread (revision 1):\nShe likes tea." in told
    assert "What the application remembers:\nShe is a member." in told
    assert briefing(after(WriteMemory(document=""), state=remembering)) == ""
    grown = fixed_tokens(remembering, "word " * 400) - fixed_tokens(STATE)
    assert grown > 500
    assert request_messages(remembering, recalled="She is a member.")[-1].text == told


def test_an_active_plan_says_what_that_means_and_how_far_it_is_written() -> None:
    empty = briefing(after(EnterPlan()))
    assert "You are planning" in empty
    assert "no text yet" in empty
    written = after(EnterPlan(), WritePlan(document="1. look\n2. act"))
    assert "The plan so far:\n1. look\n2. act" in briefing(written)
    assert briefing(after(LeavePlan(), state=written)) == ""


def test_what_is_confirmed_what_is_proposed_and_what_was_rejected_have_different_words() -> None:
    proposed = after(
        ProposeObjective(text="ship"), *(ProposeRequirement(text=text) for text in ("one", "two", "three"))
    )
    state = after(
        DecideRequirement(id="r1", verdict="confirmed"), DecideRequirement(id="r3", verdict="rejected"), state=proposed
    )
    said = briefing(state)
    assert "Objective you proposed; the user has not confirmed it: ship" in said
    assert "must satisfy each:\n- r1: one\n\n" in said
    assert "only proposed; do not treat them as wanted before they are confirmed:\n- r2: two" in said
    assert "three" not in said
    assert "\n\nObjective: ship" in briefing(after(DecideObjective(verdict="confirmed"), state=state))
    assert "rejected this objective" in briefing(after(DecideObjective(verdict="rejected"), state=state))


def test_only_the_latest_check_of_a_subject_counts_and_only_a_failed_one_is_told() -> None:
    def checked(passed: bool, summary: str, subject: str = "") -> AddVerification:
        return AddVerification(requirement="r1", passed=passed, summary=summary, subject=subject)

    state = after(
        BeginTask(objective="x", requirements=("fast",)),
        checked(False, "too slow"),
        checked(False, "commit slow", "commit 1"),
        checked(True, "fast now"),
    )
    said = briefing(state)
    assert "Checks that failed:\n- r1 on commit 1: commit slow" in said
    assert "too slow" not in said
    assert "fast now" not in said


def test_open_todos_stand_with_their_state_and_what_they_still_wait_for() -> None:
    todos = (
        Todo(id="a", subject="look", state="completed"),
        Todo(id="b", subject="act", state="in_progress", blocked_by=("a",), owner="ada"),
        Todo(id="c", subject="check", blocked_by=("a", "b")),
    )
    assert briefing(after(WriteTodos(todos=todos))).splitlines()[-3:] == [
        "Open todos ([>] in progress, [ ] pending), at revision 1. 1 completed ones are left out.",
        "- [>] b: act (ada)",
        "- [ ] c: check, waits for b",
    ]


def test_groups_that_can_be_activated_are_listed_until_they_are() -> None:
    assert briefing(GROUPED).endswith("- files: edit\n- web: fetch, post")
    assert [tool.name for tool in offered_tools(GROUPED)] == ["look"]
    state = after(ActivateGroups(groups=("web",)), state=GROUPED)
    assert briefing(state).endswith("- files: edit")
    assert [tool.name for tool in offered_tools(state)] == ["look", "fetch", "post"]


def test_a_thread_without_an_agent_is_offered_nothing() -> None:
    assert offered_tools(AgentState()) == ()


def test_the_briefing_ends_the_request_behind_the_results_of_all_calls() -> None:
    asked = Message(id="m", role="assistant", blocks=(ToolCall(id="1", name="look"), ToolCall(id="2", name="look")))
    state = after(EnterPlan()).model_copy(update={"context": (user("hi"), asked), "summary": "before"})
    view = request_messages(state)
    assert [message.role for message in view] == ["user", "user", "assistant", "tool", "tool", "user"]
    assert (view[-1].id, view[-1].metadata, view[-1].text) == (BRIEFING, {"input": BRIEFING}, briefing(state))
    assert state.context == (user("hi"), asked)


TEXTS = st.text(max_size=10)
tasks = st.builds(
    TaskState,
    objective=st.none() | TEXTS,
    objective_state=st.sampled_from(["proposed", "confirmed", "rejected"]),
    todos=st.lists(st.builds(Todo, id=TEXTS, subject=TEXTS, blocked_by=st.lists(TEXTS).map(tuple))).map(tuple),
    requirements=st.lists(st.builds(Requirement, id=TEXTS, text=TEXTS)).map(tuple),
    verifications=st.lists(st.builds(Verification, requirement=TEXTS, passed=st.booleans(), summary=TEXTS)).map(tuple),
)
plans = st.builds(PlanState, active=st.booleans(), document=TEXTS)


@given(tasks, plans)
def test_any_state_also_an_imported_one_can_be_told(tasks: TaskState, plan: PlanState) -> None:
    state = GROUPED.model_copy(update={"tasks": tasks, "plan": plan})
    assert briefing(state)
    assert briefing(state) == briefing(AgentState.model_validate_json(state.model_dump_json()))
