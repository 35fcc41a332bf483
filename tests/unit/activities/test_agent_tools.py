"""The agent's own tools, called through the host as a model calls them; what they want is applied as under the lock."""

from dataclasses import replace
from typing import Any

import pytest

from tests.unit.activities.calling import HOST, call, context, text
from turnwright.activities import Agent, agent_tools, tool
from turnwright.activities.agent_tools import (
    activate_tools,
    ask_user,
    memory_write,
    plan_enter,
    plan_exit,
    plan_write,
    propose_objective,
    propose_requirement,
    todo_write,
)
from turnwright.activities.permission_facts import facts_of
from turnwright.activities.tool_host import ToolOutcome
from turnwright.activities.tools import Tool
from turnwright.journal.agent_state import AgentState
from turnwright.journal.json_schema import problems
from turnwright.journal.messages import Message, ToolCall
from turnwright.journal.permissions.facts import Checked
from turnwright.journal.state_ops import Refusal, apply_ops, changed
from turnwright.journal.state_parts import MemoryState, PlanState
from turnwright.journal.view import offered_tools


@tool(group="web")
def fetch(url: str) -> str:
    """Fetch a page."""
    return url


AGENT = Agent("helper", "scripted:x", tools=[*agent_tools(), fetch])
STATE = AgentState(agent=AGENT.definition)


async def called(known: Tool[..., Any], state: AgentState = STATE, **arguments: object) -> ToolOutcome:
    return await HOST.run(known, call(known, **arguments), replace(context(), state=state))


async def applied(known: Tool[..., Any], state: AgentState = STATE, **arguments: object) -> AgentState:
    outcome = await called(known, state, **arguments)
    assert outcome.result.outcome == "success", text(outcome)
    assert outcome.ops
    changes = apply_ops(outcome.ops, state, ("web",))
    assert not isinstance(changes, Refusal), changes.message
    for change in changes:
        state = changed(state, change)
    return state


def test_all_of_them_may_be_repeated_freely_and_run_while_planning() -> None:
    tools = agent_tools()
    assert {known.spec.effect for known in tools} == {"read"}
    assert {known.spec.group for known in tools} == {None}
    assert all(known.spec.description for known in tools)


def test_tools_are_chosen_by_purpose() -> None:
    assert [known.name for known in agent_tools("plan")] == ["plan_enter", "plan_write", "plan_exit"]
    assert [known.name for known in agent_tools("questions", "todos")] == ["ask_user", "todo_write"]
    assert len(agent_tools()) == len({known.name for known in agent_tools()}) == 10


async def test_todos_are_written_as_a_list() -> None:
    todos = [{"id": "a", "subject": "look", "state": "completed"}, {"id": "b", "subject": "act", "blocked_by": ["a"]}]
    outcome = await called(todo_write, todos=todos)
    assert text(outcome) == "The list is written: 2 todos, 1 of them open."
    tasks = (await applied(todo_write, todos=todos)).tasks
    assert [(todo.id, todo.blocks, todo.blocked_by) for todo in tasks.todos] == [("a", ("b",), ()), ("b", (), ("a",))]


async def test_todos_that_do_not_fit_the_schema_are_no_call() -> None:
    outcome = await called(todo_write, todos=[{"id": "a", "subject": "x", "state": "begun"}])
    assert outcome.result.outcome == "error"
    assert "todos.0.state" in text(outcome)


async def test_what_is_to_be_remembered_is_written_as_a_document() -> None:
    document = "She likes tea."
    assert text(await called(memory_write, document=document)) == "It is remembered: 14 characters."
    assert (await applied(memory_write, document=document)).memory == MemoryState(revision=1, document=document)


async def test_a_plan_is_entered_written_and_left_with_its_document() -> None:
    state = await applied(plan_enter)
    assert state.plan.active
    state = await applied(plan_write, state, document="1. look")
    outcome = await called(plan_exit, state)
    assert "1. look" in text(outcome)
    assert (await applied(plan_exit, state)).plan == PlanState(active=False, document="1. look")


async def test_leaving_a_plan_that_has_no_text_is_an_error() -> None:
    outcome = await called(plan_exit, await applied(plan_enter))
    assert outcome.result.outcome == "error"
    assert "plan_write" in text(outcome)


async def test_leaving_when_no_plan_is_active_is_refused() -> None:
    outcome = await called(plan_exit)
    assert (outcome.result.outcome, outcome.ops) == ("error", ())
    assert "No plan is active" in text(outcome)


async def checked(state: AgentState) -> Checked | None:
    return (await facts_of(plan_exit, plan_exit.spec, {}, replace(context(), state=state), ())).check


async def test_leaving_an_active_plan_is_asked_with_its_whole_document() -> None:
    document = "a line of the plan\n" * 3_000
    state = STATE.model_copy(update={"plan": PlanState(active=True, document=document)})
    found = await checked(state)
    assert found is not None
    assert (found.verdict, document in found.message) == ("ask", True)


@pytest.mark.parametrize("plan", [PlanState(), PlanState(document="left"), PlanState(active=True, document=" ")])
async def test_nobody_is_asked_when_there_is_nothing_to_approve(plan: PlanState) -> None:
    state = STATE.model_copy(update={"plan": plan})
    found = await checked(state)
    assert found is not None
    assert found.verdict == "allow"
    assert (await called(plan_exit, state)).result.outcome == "error"


async def test_the_plan_that_is_being_approved_cannot_be_replaced_in_the_same_step() -> None:
    calls = (ToolCall(id="e", name="plan_exit"), ToolCall(id="c", name="plan_write"))
    asked = Message(role="assistant", blocks=calls)
    state = STATE.model_copy(update={"context": (asked,), "plan": PlanState(active=True, document="as read")})
    outcome = await called(plan_write, state, document="something else")
    assert (outcome.result.outcome, outcome.ops) == ("error", ())
    assert "plan_exit is called in the same step" in text(outcome)


async def test_a_question_with_choices_is_answered_with_one_of_them() -> None:
    asks = (await called(ask_user, question="Which?", choices=["red", "blue", "red "])).asks
    assert asks is not None
    assert (asks.kind, asks.asked["prompt"]) == ("form", "Which?")
    schema = asks.asked["schema"]
    assert problems(schema, {"answer": "red"}) == []
    assert problems(schema, {"answer": "green"}) == ["answer: must be one of: red, blue"]


async def test_a_question_without_choices_is_answered_in_words() -> None:
    asks = (await called(ask_user, question="Why?")).asks
    assert asks is not None
    assert problems(asks.asked["schema"], {"answer": "because"}) == []
    assert problems(asks.asked["schema"], {}) == ["answer is missing"]


@pytest.mark.parametrize("choices", [[], ["one"], ["a", ""], [str(n) for n in range(51)]])
async def test_a_choice_of_nothing_is_not_asked(choices: list[str]) -> None:
    outcome = await called(ask_user, question="Which?", choices=choices)
    assert (outcome.result.outcome, outcome.asks) == ("error", None)
    assert "different choices" in text(outcome)


async def test_objective_and_requirements_are_only_proposed() -> None:
    state = await applied(propose_objective, text="ship it")
    state = await applied(propose_requirement, state, text="fast")
    state = await applied(propose_requirement, state, text="very fast", id="r1")
    assert (state.tasks.objective, state.tasks.objective_state) == ("ship it", "proposed")
    assert [(known.text, known.state) for known in state.tasks.requirements] == [("very fast", "proposed")]


async def test_an_activated_group_is_offered() -> None:
    assert "fetch" not in {spec.name for spec in offered_tools(STATE)}
    outcome = await called(activate_tools, groups=["web"])
    assert text(outcome) == "You can call now: fetch."
    state = await applied(activate_tools, groups=["web"])
    assert "fetch" in {spec.name for spec in offered_tools(state)}
