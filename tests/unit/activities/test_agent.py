"""Agents, and how a worker finds them."""

import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from turnwright.activities.agent import Agent
from turnwright.activities.permissions import Permissions
from turnwright.activities.registry import Registry, load_registry
from turnwright.activities.tools import tool
from turnwright.journal.agents import AgentDefinition, ApprovalTerms, Limits
from turnwright.journal.errors import InvalidInput
from turnwright.journal.state_parts import PermissionState, Rule


@tool(effect="read")
def look(place: str) -> str:
    """Look at a place."""
    return place


@tool(name="look")
def also_look(place: str) -> str:
    """Look again."""
    return place


def test_a_definition_is_data_that_survives_its_way_through_json() -> None:
    settings = {"temperature": 0.5, "stop_sequences": ["x"]}
    agent = Agent("clerk", "openai:gpt-5", "Help.", [look], Limits(max_steps=3), settings, "http://localhost:1/v1")
    definition = agent.definition
    assert AgentDefinition.model_validate_json(definition.model_dump_json()) == definition
    assert definition.tool("look") == look.spec
    assert definition.model_settings == settings


def test_what_is_done_to_the_settings_afterwards_changes_nothing() -> None:
    settings = {"steps": [{"say": "x"}]}
    agent = Agent("clerk", "scripted:x", model_settings=settings)
    settings["steps"].clear()
    assert agent.definition.model_settings == {"steps": [{"say": "x"}]}


def test_an_agent_finds_its_tools_by_name() -> None:
    agent = Agent("clerk", "scripted:x", tools=[look])
    assert agent.tool("look") is look
    assert agent.tool("jump") is None


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"name": ""}, "agent name"),
        ({"name": "a\nb"}, "control characters"),
        ({"model": ""}, "model must be a name"),
        ({"tools": [look, also_look]}, "several tools are called look"),
        ({"tools": [print]}, "decorate the function"),
        ({"model_settings": {"x": object()}}, "JSON"),
        ({"model_settings": {"x": float("nan")}}, "JSON"),
        ({"instructions": 5}, "instructions"),
        ({"base_url": 5}, "base_url"),
        ({"permissions": "bypass"}, "permissions must be Permissions"),
        ({"approvals": 5}, "approvals"),
    ],
)
def test_an_agent_that_could_not_run_is_refused_when_it_is_made(changes: dict[str, Any], says: str) -> None:
    with pytest.raises(InvalidInput, match=says):
        Agent(**{"name": "clerk", "model": "scripted:x", **changes})


def test_a_definition_pins_what_the_agent_may_do_and_who_set_it() -> None:
    permissions = Permissions("explore", ["look(place=a*)"], ["*"], deny=["jump"], working_directories=["/srv/shop/"])
    terms = ApprovalTerms(deadline_s=60, on_expiry="approve")
    definition = Agent("clerk", "scripted:x", permissions=permissions, approvals=terms).definition
    assert definition.permissions == PermissionState(
        mode="explore",
        allow=(Rule(tool="look", pattern="place=a*", source="agent"),),
        ask=(Rule(tool="*", source="agent"),),
        deny=(Rule(tool="jump", source="agent"),),
        working_directories=("/srv/shop",),
    )
    assert definition.approvals == terms
    assert Agent("clerk", "scripted:x").definition.permissions == PermissionState()


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"mode": "free"}, "mode is one of default, accept_edits, explore, bypass, dont_ask, not 'free'"),
        ({"allow": "refund"}, "allow is a list of texts"),
        ({"deny": [Rule(tool="refund")]}, "deny is a list of texts"),
        ({"ask": ["refund(5)"]}, "argument=glob"),
        ({"working_directories": ["src"]}, "absolute path"),
        ({"working_directories": "/srv"}, "list of texts"),
    ],
)
def test_permissions_that_mean_nothing_are_refused_when_they_are_made(changes: dict[str, Any], says: str) -> None:
    with pytest.raises(InvalidInput, match=says):
        Permissions(**changes)


def test_a_registry_knows_agents_and_their_tools_by_name() -> None:
    clerk = Agent("clerk", "scripted:x", tools=[look])
    registry = Registry([clerk, Agent("cook", "scripted:y")])
    assert registry.names == ("clerk", "cook")
    assert registry.get("clerk") is clerk
    assert registry.get("nobody") is None
    assert registry.tool("clerk", "look") is look
    assert registry.tool("nobody", "look") is None
    assert "cook" in registry
    assert [agent.name for agent in registry] == ["clerk", "cook"]


def test_two_agents_of_one_name_are_refused() -> None:
    with pytest.raises(InvalidInput, match="two agents"):
        Registry([Agent("a", "scripted:x"), Agent("a", "scripted:y")])


@pytest.fixture
def shop(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    (tmp_path / "shop_agents.py").write_text(
        "from turnwright.activities.agent import Agent\n"
        "from turnwright.activities.registry import Registry\n"
        "one = Agent('one', 'scripted:x')\n"
        "several = [one, Agent('two', 'scripted:x')]\n"
        "registry = Registry(several)\n"
        "def made():\n    return several\n"
        "class Box:\n    inside = one\n"
        "def picky(which):\n    return one\n"
        "wrong = 5\n"
        "mixed = [one, 5]\n"
    )
    (tmp_path / "shop_broken.py").write_text("import there_is_no_such_module\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    yield
    for name in ("shop_agents", "shop_broken"):
        sys.modules.pop(name, None)


@pytest.mark.usefixtures("shop")
@pytest.mark.parametrize(
    ("target", "names"),
    [
        ("shop_agents:one", ("one",)),
        ("shop_agents:several", ("one", "two")),
        ("shop_agents:registry", ("one", "two")),
        ("shop_agents:made", ("one", "two")),
        ("shop_agents:Box.inside", ("one",)),
    ],
)
def test_a_registry_is_loaded_from_whatever_holds_agents(target: str, names: tuple[str, ...]) -> None:
    assert load_registry(target).names == names


@pytest.mark.usefixtures("shop")
@pytest.mark.parametrize(
    ("target", "says"),
    [
        ("shop_agents", "package.module:attribute"),
        (":x", "package.module:attribute"),
        ("shop_agents:", "package.module:attribute"),
        ("shop_agents:nothing", "has no 'nothing'"),
        ("shop_agents:wrong", "is a int"),
        ("shop_agents:picky", "without arguments: missing a required argument: 'which'"),
        ("shop_agents:mixed", "holds agents"),
        ("no_such_shop:agents", "no module no_such_shop"),
        ("no_such_shop.inner:agents", "no module no_such_shop"),
    ],
)
def test_a_wrong_target_says_what_is_wrong_with_it(target: str, says: str) -> None:
    with pytest.raises(InvalidInput, match=says):
        load_registry(target)


@pytest.mark.usefixtures("shop")
def test_a_module_that_misses_an_import_of_its_own_fails_with_that() -> None:
    with pytest.raises(InvalidInput, match="there_is_no_such_module"):
        load_registry("shop_broken:agents")


@pytest.mark.parametrize(
    ("source", "said", "line"),
    [
        ("import json\n\n1 / 0\n", "ZeroDivisionError: division by zero", 3),
        ("import json\njson.loads('{')\n", "JSONDecodeError: Expecting property name", 2),
        ("def f(:\n", "SyntaxError: invalid syntax (shop_broken.py, line 1)", None),
        ("raise SystemExit(3)\n", "SystemExit: 3", 1),
        ("from turnwright.activities import Agent\nAgent('one', '')\n", "agent one: model must be a name", 2),
        ("def agents():\n    raise KeyError('x')\n", "KeyError: 'x'", 2),
    ],
)
def test_a_module_that_raises_is_told_in_one_line_and_with_its_own_frames_only(
    source: str, said: str, line: int | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "shop_broken.py"
    file.write_text(source)
    monkeypatch.syspath_prepend(str(tmp_path))
    with pytest.raises(InvalidInput) as caught:
        load_registry("shop_broken:agents")
    sys.modules.pop("shop_broken", None)
    text = str(caught.value)
    assert text.startswith("'shop_broken:agents' cannot be loaded: ")
    assert said in text
    assert "\n" not in text
    if line is not None:
        assert text.endswith(f"({file}, line {line})")
    [frames] = caught.value.__notes__
    named = set(re.findall(r'File "(.+?)"', frames))
    assert named == {str(file)}
