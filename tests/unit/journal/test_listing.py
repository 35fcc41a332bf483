"""What sources of tools list is recorded by who has the model call, and is the agent's from then on."""

from __future__ import annotations

import pytest

from tests.unit.journal.scene import Scene, definition, must, refused
from tests.unit.journal.thread_machine import Step
from turnwright.journal.agents import ToolSpec
from turnwright.journal.commands import ListTools
from turnwright.journal.entries import ToolsListed
from turnwright.journal.view import offered_tools


def asking() -> Scene:
    """A model call is claimed for an agent with two sources."""
    scene = Scene(agent=definition().model_copy(update={"sources": ("time", "git")}))
    scene.thinking()
    return scene


def tool(name: str, source: str = "time") -> ToolSpec:
    return ToolSpec(name=name, source=source, name_there=name, effect="read")


def lists(scene: Scene, *listed: ToolsListed, ordinal: int = 1, epoch: int | None = None) -> Step:
    held = scene.machine.control
    assert held.active is not None
    now = held.epoch if epoch is None else epoch
    return scene.run(ListTools(turn_id=scene.turn, epoch=now, step=held.active.step, ordinal=ordinal, listed=listed))


def of_time(*names: str) -> ToolsListed:
    return ToolsListed(source="time", tools=tuple(map(tool, names)))


def offered(scene: Scene) -> set[str]:
    return {spec.name for spec in offered_tools(scene.machine.state) if spec.source is not None}


def test_a_list_is_offered_and_the_next_one_of_the_source_replaces_it() -> None:
    scene = asking()
    git = ToolsListed(source="git", tools=(tool("git_log", "git"),))
    must(lists(scene, of_time("now", "then"), git))
    assert offered(scene) == {"now", "then", "git_log"}
    must(lists(scene, of_time("then", "soon")))
    assert offered(scene) == {"then", "soon", "git_log"}
    must(lists(scene, of_time()))
    assert offered(scene) == {"git_log"}


def test_a_list_that_is_known_is_no_entry() -> None:
    scene = asking()
    must(lists(scene, of_time("now")))
    before = scene.machine.control.seq
    must(lists(scene, of_time("now")))
    assert scene.machine.control.seq == before


@pytest.mark.parametrize("who", [{"ordinal": 2}, {"epoch": 0}], ids=["another attempt", "an older run"])
def test_who_does_not_have_the_model_call_lists_nothing(who: dict[str, int]) -> None:
    scene = asking()
    assert refused(lists(scene, of_time("now"), **who)) == "no_claim"
    assert offered(scene) == set()


@pytest.mark.parametrize(
    ("listed", "why"),
    [
        (ToolsListed(source="mail", tools=(tool("send_all", "mail"),)), "no"),
        (ToolsListed(source="time", tools=(tool("git_log", "git"),)), "another source"),
        (of_time("look"), "would be called look"),
        (of_time("now", "now"), "would be called now"),
    ],
    ids=["not pinned", "another's", "taken", "twice"],
)
def test_what_the_agent_cannot_have_is_refused_as_a_whole(listed: ToolsListed, why: str) -> None:
    scene = asking()
    step = lists(scene, of_time("now"), listed)
    assert refused(step) == "not_listable"
    assert step.rejection is not None
    assert why in step.rejection.reason
    assert offered(scene) == set()
