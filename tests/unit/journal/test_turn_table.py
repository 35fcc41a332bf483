"""Every turn command in every state of a turn does what the specification's table says."""

import re
from collections.abc import Callable

import pytest

from tests.unit.journal import agent
from tests.unit.journal.scene import Scene, call, must
from tests.unit.journal.thread_machine import Step
from tests.unit.journal.turn_table import COMMANDS, STATES, TABLE
from turnwright.journal.budgets import Budget
from turnwright.journal.commands import (
    CancelTurn,
    PauseTurn,
    Reconcile,
    Respond,
    ResumeTurn,
    RetryTurn,
    Steer,
    TurnCommand,
)
from turnwright.journal.decide import table
from turnwright.journal.turn_status import FINISHED

NAMES_OF_THE_CODE = re.compile(r"[a-z][A-Z]|\b[A-Z]\w")


def queued() -> Scene:
    scene = Scene()
    must(scene.submit())
    return scene


def queued_paused() -> Scene:
    scene = queued()
    must(scene.pause())
    return scene


def pausing() -> Scene:
    scene = Scene().thinking()
    must(scene.pause())
    return scene


def paused() -> Scene:
    scene = Scene().running()
    must(scene.pause())
    return scene


def asking() -> Scene:
    """A question is open and the turn does not wait yet: the answer that asks came from an older run's attempt."""
    scene = Scene(agent=agent.asking("send")).thinking()
    older = scene.machine.control.epoch
    must(scene.claim())
    must(scene.respond_model(call("send"), epoch=older))
    return scene


def asking_busy() -> Scene:
    """A read runs while its lost sibling is being asked about."""
    scene = Scene()
    lost, reading = scene.calling("send", "look")
    must(scene.start(lost))
    scene.machine.dead.add(scene.worker)
    scene.worker = "w2"
    must(scene.look())
    must(scene.start(reading))
    return scene


def waiting(*names: str) -> Scene:
    scene = Scene(agent=agent.asking("send"))
    scene.calling(*(names or ("send",)))
    assert scene.status.phase == "waiting"
    return scene


def waiting_paused() -> Scene:
    scene = waiting()
    must(scene.pause())
    return scene


def answered_paused() -> Scene:
    scene = waiting_paused()
    must(scene.respond())
    return scene


def deferred() -> Scene:
    """A tool ended with a question to a person."""
    scene = Scene()
    scene.deferred()
    assert scene.status.phase == "waiting"
    return scene


def deferred_paused() -> Scene:
    scene = deferred()
    must(scene.pause())
    return scene


def deferred_busy() -> Scene:
    """A sibling of the call that asks still runs."""
    scene = Scene()
    asking, reading = scene.calling("send", "look")
    must(scene.start(asking))
    must(scene.start(reading))
    must(scene.ask(asking))
    return scene


def over_budget() -> Scene:
    scene = Scene()
    must(scene.submit(budget=Budget(steps=0)))
    must(scene.claim())
    assert scene.status.phase == "waiting"
    return scene


def over_budget_paused() -> Scene:
    scene = over_budget()
    must(scene.pause())
    return scene


def unknown() -> Scene:
    scene = Scene()
    scene.unknown()
    assert scene.status.phase == "waiting"
    return scene


def unknown_paused() -> Scene:
    scene = unknown()
    must(scene.pause())
    return scene


def cancelling() -> Scene:
    scene = Scene().thinking()
    must(scene.cancel())
    return scene


def completed() -> Scene:
    scene = Scene().thinking()
    must(scene.respond_model())
    return scene


def cancelled() -> Scene:
    scene = Scene().running()
    must(scene.cancel())
    return scene


def failed_passed_by() -> Scene:
    scene = Scene().failed()
    failed = scene.turn
    scene.running()
    must(scene.cancel())
    scene.turn = failed
    return scene


MAKE: dict[str, Callable[[], Scene]] = {
    "queued": queued,
    "queued_paused": queued_paused,
    "idle": lambda: Scene().running(),
    "busy": lambda: Scene().thinking(),
    "pausing": pausing,
    "paused": paused,
    "asking": asking,
    "asking_busy": asking_busy,
    "waiting": waiting,
    "waiting_two": lambda: waiting("send", "send"),
    "waiting_paused": waiting_paused,
    "answered_paused": answered_paused,
    "deferred": deferred,
    "deferred_paused": deferred_paused,
    "deferred_busy": deferred_busy,
    "over_budget": over_budget,
    "over_budget_paused": over_budget_paused,
    "unknown": unknown,
    "unknown_paused": unknown_paused,
    "cancelling": cancelling,
    "completed": completed,
    "cancelled": cancelled,
    "failed": lambda: Scene().failed(),
    "failed_passed_by": failed_passed_by,
}


YES = {"approval": "approve", "form": "answer", "budget": "raise", "unknown_outcome": "approve"}


def say_yes(scene: Scene) -> Step:
    """Answer the first open question, or the last one of all if none is open."""
    active, asked = scene.machine.control.active, list(scene.machine.asked)
    if active is not None and active.interactions:
        question = active.interactions[0]
        return scene.respond(YES[question.kind], question=question.interaction_id)
    return scene.respond(question=asked[-1] if asked else "q-none")


def some_call(scene: Scene) -> str:
    active = scene.machine.control.active
    return active.calls[0].call_id if active and active.calls else "c-none"


DO: dict[str, Callable[[Scene], Step]] = {
    "steer": lambda s: s.steer(),
    "pause": lambda s: s.pause(),
    "resume": lambda s: s.resume(),
    "resume_stale": lambda s: s.resume(s.status.revision - 1),
    "cancel": lambda s: s.cancel(),
    "respond": say_yes,
    "respond_other": lambda s: s.respond(question="q-of-somebody-else"),
    "reconcile": lambda s: s.reconcile(some_call(s), "succeeded"),
    "retry": lambda s: s.retry(),
}


@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.parametrize("state", STATES)
def test_a_command_does_in_a_state_what_the_table_says(state: str, command: str) -> None:
    scene = MAKE[state]()
    before, entries = scene.status, len(scene.machine.entries)
    step = DO[command](scene)
    expected = TABLE[state, command]
    after = scene.status
    if step.rejection is not None:
        assert step.rejection.code == expected
        assert (after, len(scene.machine.entries)) == (before, entries)
    elif expected == "=":
        assert (after.phase, after.pause) == (before.phase, before.pause)
    else:
        assert f"{after.phase}/{after.pause}" == expected
        assert after.revision > before.revision


@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.parametrize("state", STATES)
def test_a_rejection_is_told_in_words_for_people_and_never_in_names_of_the_code(state: str, command: str) -> None:
    step = DO[command](MAKE[state]())
    if step.rejection is not None:
        assert NAMES_OF_THE_CODE.search(step.rejection.reason) is None, step.rejection.reason


def test_the_codes_table_lists_exactly_the_combinations_that_are_accepted_in_some_state() -> None:
    kinds: dict[str, type[TurnCommand]] = {
        "steer": Steer, "pause": PauseTurn, "resume": ResumeTurn, "cancel": CancelTurn,
        "respond": Respond, "reconcile": Reconcile, "retry": RetryTurn,
    }  # fmt: skip
    listed = {
        (kinds[command], MAKE[state]().status.phase)
        for (state, command), cell in TABLE.items()
        if command in kinds and cell != "wrong_phase"
    }
    assert listed == set(table.TABLE)
    assert {phase for _, phase in table.TABLE} & FINISHED == {"failed"}
