"""Children: a call opens a turn on another thread, and the end of that turn is its result."""

from dataclasses import replace

import pytest

from tests.unit.journal.budgeted import bounded, one_step
from tests.unit.journal.scene import USAGE, Scene, must
from tests.unit.journal.thread_machine import KEY, Step, ThreadMachine
from turnwright.journal.actions import Park, Work
from turnwright.journal.budgets import Budget, Used
from turnwright.journal.commands import EndChild, Spawn, TakeIn
from turnwright.journal.control import ThreadControl
from turnwright.journal.entries import ChildSpawned
from turnwright.journal.ids import turn_id
from turnwright.journal.lineage import Parent, child_place
from turnwright.journal.messages import Text, user
from turnwright.journal.posts import ChildCancel, ChildEnd, posts_of


def opening(scene: Scene, call_id: str, **more: object) -> Step:
    """A worker's attempt of a call ends with a child."""
    must(scene.start(call_id))
    place = child_place(scene.machine.key, scene.turn, call_id, "helper")
    siblings = tuple(call.call_id for call in scene.calls)
    spawn = replace(Spawn(place=place, task="look it up", siblings=siblings), **more)  # type: ignore[arg-type]
    call = scene.active.call(call_id)
    assert call is not None
    return must(scene.finish(call_id, "deferred", ordinal=call.ordinal, spawns=spawn))


def ended(scene: Scene, call_id: str, outcome: str = "success", tokens: int = 0) -> Step:
    """The child of a call has ended."""
    place = child_place(scene.machine.key, scene.turn, call_id, "helper")
    end = EndChild(
        turn_id=scene.turn,
        child_turn=place.turn_id,
        phase="completed" if outcome == "success" else "failed",
        used=Used(tokens=tokens),
        outcome=outcome,  # type: ignore[arg-type]
        output=(Text(text="found"),),
    )
    return scene.machine.run(end)


def opened(scene: Scene) -> list[ChildSpawned]:
    return [entry.payload for entry in scene.machine.entries if isinstance(entry.payload, ChildSpawned)]


def test_a_turn_parks_until_the_last_of_its_children_has_ended_and_then_goes_on() -> None:
    scene = Scene()
    first, second = scene.calling("put", "put")
    assert opening(scene, first).types == ["tool.finished", "child.spawned"]
    step = opening(scene, second)
    assert (step.types[-1], step.action) == ("turn.waiting", Park("waiting"))
    assert ended(scene, second).types == ["child.finished", "tool.finished"]
    assert ended(scene, first, "error").types == ["child.finished", "tool.finished", "turn.continued"]
    assert scene.results == [("put", "success"), ("put", "error")]
    must(scene.claim())
    must(scene.request())


@pytest.mark.parametrize("again", [1, 2])
def test_an_end_that_is_told_again_changes_nothing(again: int) -> None:
    scene = Scene()
    (call_id,) = scene.calling("put")
    opening(scene, call_id)
    ended(scene, call_id, tokens=5)
    before = (scene.machine.control, scene.machine.state)
    for _ in range(again):
        assert ended(scene, call_id, tokens=5).types == []
    assert (scene.machine.control, scene.machine.state) == before


def test_the_end_of_a_child_of_a_cancelled_turn_changes_nothing() -> None:
    scene = Scene()
    (call_id,) = scene.calling("put")
    opening(scene, call_id)
    assert must(scene.cancel()).types == ["turn.cancel_requested", "tool.finished", "turn.cancelled"]
    before = (scene.machine.control, scene.machine.state)
    assert ended(scene, call_id).types == []
    assert (scene.machine.control, scene.machine.state) == before


def test_an_attempt_that_comes_too_late_opens_nothing() -> None:
    scene = Scene()
    (call_id,) = scene.calling("put")
    must(scene.start(call_id))
    scene.machine.dead.add(scene.worker)
    scene.worker = "w2"
    must(scene.look())
    place = child_place(scene.machine.key, scene.turn, call_id, "helper")
    late = scene.finish(call_id, "deferred", spawns=Spawn(place=place, task="look"))
    assert must(late).types == ["tool.late"]
    opening(scene, call_id)
    assert len(opened(scene)) == 1


def test_a_call_that_ends_while_its_turn_is_cancelled_opens_nothing() -> None:
    scene = Scene()
    (call_id,) = scene.calling("put")
    must(scene.start(call_id))
    must(scene.cancel())
    place = child_place(scene.machine.key, scene.turn, call_id, "helper")
    step = must(scene.finish(call_id, "deferred", spawns=Spawn(place=place, task="look")))
    assert step.types == ["tool.finished", "turn.cancelled"]


def test_nobody_waits_for_a_detached_child() -> None:
    scene = Scene()
    (call_id,) = scene.calling("put")
    step = opening(scene, call_id, detached=True)
    assert step.types == ["tool.finished", "child.spawned"]
    assert isinstance(step.action, Work)
    assert scene.active.children == ()
    assert scene.results == [("put", "success")]


def test_a_child_ends_while_the_turn_is_paused_and_resuming_goes_on() -> None:
    scene = Scene()
    (call_id,) = scene.calling("put")
    opening(scene, call_id)
    must(scene.pause())
    assert ended(scene, call_id).types == ["child.finished", "tool.finished"]
    must(scene.resume())
    must(scene.claim())
    must(scene.request())


def test_siblings_share_what_is_left_and_what_they_used_counts_for_the_turn() -> None:
    scene = bounded("turn", tokens=USAGE.total_tokens + 90)
    calls = one_step(scene, "put", "put", "put")
    opening(scene, calls[0])
    ended(scene, calls[0], tokens=10)
    opening(scene, calls[1])
    opening(scene, calls[2], budget=Budget(tokens=7, steps=3))
    assert [child.budget for child in opened(scene)] == [
        Budget(tokens=30),
        Budget(tokens=40),
        Budget(tokens=7, steps=3),
    ]
    assert scene.active.by_children == Used(tokens=10)
    assert scene.machine.control.used == scene.active.used, "a child's thread counts for itself"


def test_when_nothing_is_left_the_model_is_told_and_then_the_turn_asks() -> None:
    scene = bounded("turn", tokens=USAGE.total_tokens)
    [call_id] = one_step(scene, "put")
    step = opening(scene, call_id)
    assert step.types == ["tool.finished", "interaction.requested", "turn.waiting"]
    assert scene.results == [("put", "error")]


def test_a_child_takes_its_share_of_the_turn_with_it_and_the_deepest_may_open_none() -> None:
    scene, depths = Scene(), []
    machine = scene.machine
    must(scene.submit())
    while True:
        must(scene.claim())
        [call_id] = one_step(scene, "put")
        step = opening(scene, call_id)
        if step.types == ["tool.finished"]:
            break
        [post] = posts_of(machine.key, machine.control, step.entries, {})
        assert isinstance(post.what, TakeIn)
        assert post.what.turn_id == turn_id(post.to, post.what.request_id)
        assert post.what.parent is not None
        depths.append(post.what.parent.depth)
        scene = Scene(ThreadMachine(key=post.to))
        machine = scene.machine
        must(machine.run(post.what))
        scene.turn = post.what.turn_id
    assert depths == [1, 2, 3]
    assert scene.results == [("put", "error")]


def told(scene: Scene, step: Step, before: ThreadControl) -> list[TakeIn | ChildEnd | ChildCancel]:
    """What a step asks of other threads."""
    return [post.what for post in posts_of(scene.machine.key, before, step.entries, scene.machine.turns)]


def test_an_ending_turn_has_its_open_children_cancelled_and_no_others() -> None:
    scene = Scene()
    first, second, alone = scene.calling("put", "put", "put")
    opening(scene, first)
    opening(scene, second)
    opening(scene, alone, detached=True)
    ended(scene, first)
    before = scene.machine.control
    [cancel] = told(scene, must(scene.cancel()), before)
    assert isinstance(cancel, ChildCancel)
    assert cancel.child_turn == child_place(KEY, scene.turn, second, "helper").turn_id
    assert (cancel.parent_turn, cancel.parent_phase, cancel.principal) == (scene.turn, "cancelled", "local")


@pytest.mark.parametrize(("detached", "count"), [(False, 1), (True, 0)])
def test_the_end_of_a_child_is_told_to_its_parent_with_what_it_used(detached: bool, count: int) -> None:
    scene = Scene()
    parent = Parent(agent="helper", thread="main", turn_id="t-parent", call_id="c", detached=detached)
    child = TakeIn(request_id="r", turn_id=turn_id(scene.machine.key, "r"), input=user("task"), parent=parent)
    must(scene.run(child))
    scene.turn = child.turn_id
    must(scene.claim())
    must(scene.request())
    before = scene.machine.control
    ends = told(scene, must(scene.respond_model()), before)
    assert len(ends) == count
    for end in ends:
        assert isinstance(end, ChildEnd)
        assert (end.parent_turn, end.child_turn, end.used.tokens) == ("t-parent", scene.turn, USAGE.total_tokens)


def test_a_child_that_is_cancelled_before_it_starts_is_told_to_its_parent() -> None:
    scene = Scene()
    parent = Parent(agent="helper", thread="main", turn_id="t-parent", call_id="c")
    must(scene.run(TakeIn(request_id="r", turn_id="t-1", input=user("task"), parent=parent)))
    scene.turn = "t-1"
    before = scene.machine.control
    assert len(told(scene, must(scene.cancel()), before)) == 1
