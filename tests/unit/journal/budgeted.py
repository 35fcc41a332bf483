"""Scenes under a budget: a turn of its own, each turn of the thread, the thread, the session."""

from collections.abc import Callable
from typing import Any

from tests.unit.journal.scene import USAGE, Scene, call, must
from turnwright.journal.budgets import Budget
from turnwright.journal.messages import Usage

Bound = Callable[[Scene, dict[str, Any]], None]


def of_turn(scene: Scene, bounds: dict[str, Any]) -> None:
    must(scene.submit(budget=Budget.model_validate(bounds)))


def of_turns(scene: Scene, bounds: dict[str, Any]) -> None:
    must(scene.submit())
    must(scene.set_budget("turns", **bounds))


def of_thread(scene: Scene, bounds: dict[str, Any]) -> None:
    must(scene.submit())
    must(scene.set_budget("thread", **bounds))


def of_session(scene: Scene, bounds: dict[str, Any]) -> None:
    must(scene.submit())
    scene.set_session_budget(**bounds)


SCOPES: dict[str, tuple[Bound, str]] = {
    "turn": (of_turn, "turn"),
    "turns": (of_turns, "turn"),
    "thread": (of_thread, "thread"),
    "session": (of_session, "session"),
}


def bounded(scope: str, **bounds: float) -> Scene:
    """A running turn under a budget."""
    scene = Scene()
    SCOPES[scope][0](scene, bounds)
    must(scene.claim())
    return scene


def one_step(scene: Scene, *names: str, usage: Usage | None = None, seconds: float = 0) -> list[str]:
    """A model step that asks for these tools."""
    must(scene.request())
    scene.wait(seconds)
    blocks = tuple(call(name) for name in names)
    must(scene.respond_model(*blocks, usage=usage or USAGE))
    return [] if scene.machine.control.active is None else [known.call_id for known in scene.calls]


def run_call(scene: Scene, call_id: str, seconds: float = 0) -> None:
    must(scene.start(call_id))
    scene.wait(seconds)
    must(scene.finish(call_id))


def over(scene: Scene) -> tuple[str, list[str]]:
    """Whose budget the open question is about, and what of it is used up."""
    assert scene.status.phase == "waiting"
    (question,) = scene.questions
    asked = scene.machine.asked[question.interaction_id].asked
    return asked["scope"], asked["over"]
