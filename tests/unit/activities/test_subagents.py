"""Subagents as an author writes them: the model sees a tool for each, and a mistake is told where it is made."""

import asyncio
import re
from typing import Any

import pytest

from turnwright.activities import Agent, Limits, Subagent, ToolError, tool
from turnwright.activities.subagents import Opened
from turnwright.journal.agents import AgentDefinition
from turnwright.journal.budgets import Budget
from turnwright.journal.errors import InvalidInput


@tool(effect="read")
def look(place: str) -> str:
    """Look at a place."""
    return place


def test_the_model_sees_a_tool_that_takes_a_task() -> None:
    agent = Agent("writer", "scripted:", tools=[look], subagents=[Subagent("deep research", "Finds things out.")])
    assert [spec.name for spec in agent.definition.tools] == ["look", "deep_research"]
    spec = agent.definition.tool("deep_research")
    assert spec is not None
    assert spec.description.startswith("Finds things out.")
    assert (list(spec.parameters["properties"]), spec.parameters["required"], spec.effect) == (
        ["task"],
        ["task"],
        "idempotent",
    )


def test_what_is_called_says_which_turn_is_wanted() -> None:
    subagent = Subagent("helper", "Helps.", name="help", detached=True, budget=Budget(tokens=5))
    assert asyncio.run(subagent.tool("do it")) == Opened("helper", "do it", True, Budget(tokens=5))


@pytest.mark.parametrize("task", ["", " ", "x" * 100_001])
def test_a_task_that_is_none_is_refused_in_words(task: str) -> None:
    with pytest.raises(ToolError, match="Not started"):
        asyncio.run(Subagent("helper", "Helps.").tool(task))


MISTAKES: list[tuple[dict[str, Any], str]] = [
    ({"agent": "", "description": "x"}, "subagent's agent"),
    ({"agent": "a", "description": " "}, "description must say what it is for"),
    ({"agent": "a", "description": "x", "budget": 3}, "budget must be a Budget(...)"),
    ({"agent": "a", "description": "x", "name": "not a name"}, "1 to 64 letters"),
]


@pytest.mark.parametrize(("given", "said"), MISTAKES)
def test_a_mistake_is_told_where_it_is_made(given: dict[str, Any], said: str) -> None:
    with pytest.raises(InvalidInput, match=re.escape(said)):
        Subagent(**given)


@pytest.mark.parametrize("subagents", [["helper"], [Subagent("look", "Looks.")]])
def test_an_agent_refuses_what_is_no_subagent_and_a_name_that_is_taken(subagents: list[Any]) -> None:
    with pytest.raises(InvalidInput, match=r"is no subagent|several tools are called look"):
        Agent("writer", "scripted:", tools=[look], subagents=subagents)


def test_a_definition_of_before_there_were_subagents_has_the_usual_depth() -> None:
    assert AgentDefinition(name="a", model="scripted:").limits.subagent_depth == Limits().subagent_depth == 3
