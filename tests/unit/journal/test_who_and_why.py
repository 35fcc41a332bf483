"""Every command records who gave it and why, in the entry that says what it did."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import pytest

from tests.unit.journal import agent
from tests.unit.journal.scene import USAGE, Scene, must, rules
from tests.unit.journal.thread_machine import Step, ThreadMachine
from turnwright.journal import commands as c
from turnwright.journal.budgets import Budget
from turnwright.journal.commands import ClientCommand, RunCommand
from turnwright.journal.entries.session import MadeOf
from turnwright.journal.messages import user
from turnwright.journal.schedules import Definition, Times
from turnwright.journal.state_ops import BeginTask

WHO, WHY = "bea", "audit"
BROUGHT = (user("hello"),)
BASES = {ClientCommand, c.TurnCommand}
BY_STORES = {c.EraseEntry, c.DeleteSession, c.ForkThread, c.MakeWhole, c.TriggerSchedule}
NEWS = Definition(name="news", agent="bot", input=user("the news"), times=Times(every_s=60))
"""What is not decided over entries alone: their records are the stores' tests' to prove."""


@dataclass
class Signed(Scene):
    """A scene whose commands are given by somebody, for a reason."""

    def run(self, command: ClientCommand | RunCommand) -> Step:
        if isinstance(command, ClientCommand):
            command = replace(command, principal=WHO, reason=WHY)
        return super().run(command)


def queued() -> Scene:
    scene = Signed()
    must(scene.submit())
    return scene


def running() -> Scene:
    return Signed().running()


def busy() -> Scene:
    return Signed().thinking()


def answered() -> Scene:
    scene = busy()
    must(scene.respond_model())
    return scene


def asking() -> Scene:
    scene = Signed(agent=agent.asking("send"))
    scene.calling("send")
    return scene


def unknown() -> Scene:
    scene = Signed()
    scene.unknown()
    return scene


def paused() -> Scene:
    scene = running()
    must(scene.pause())
    return scene


def paused_thread() -> Scene:
    scene = running()
    must(scene.pause_thread())
    return scene


def close(scene: Scene) -> Step:
    return scene.run(c.CloseThread(request_id="close"))


ROWS: list[tuple[type[ClientCommand], Callable[[], Scene], Callable[[Scene], Step]]] = [
    (c.Submit, Signed, lambda s: s.submit()),
    (c.Submit, busy, lambda s: s.submit(if_busy="interrupt")),
    (c.Steer, busy, lambda s: s.steer()),
    (c.Inject, busy, lambda s: s.inject()),
    (c.PauseTurn, running, lambda s: s.pause()),
    (c.PauseTurn, busy, lambda s: s.pause()),
    (c.ResumeTurn, paused, lambda s: s.resume()),
    (c.CancelTurn, queued, lambda s: s.cancel()),
    (c.CancelTurn, running, lambda s: s.cancel()),
    (c.CancelTurn, busy, lambda s: s.cancel()),
    (c.RetryTurn, lambda: Signed().failed(), lambda s: s.retry()),
    (c.Respond, asking, lambda s: s.respond("approve", principal=WHO)),
    (c.Respond, asking, lambda s: s.respond("deny", principal=WHO, always=True)),
    (c.Reconcile, unknown, lambda s: s.reconcile(s.calls[0].call_id, "failed")),
    (c.PauseThread, running, lambda s: s.pause_thread()),
    (c.ResumeThread, paused_thread, lambda s: s.resume_thread()),
    (c.CancelThread, queued, lambda s: s.cancel_thread()),
    (c.CancelThread, busy, lambda s: s.cancel_thread()),
    (c.CloseThread, running, close),
    (c.SetPermissions, running, lambda s: s.permit(rules("deny", "send"))),
    (c.SetBudget, running, lambda s: s.set_budget(steps=3)),
    (c.SetBudget, running, lambda s: s.set_budget("turns", steps=3)),
    (c.ChangeState, running, lambda s: s.do(BeginTask(objective="sell"))),
    (c.UpdateState, answered, lambda s: s.update(summary="they met")),
    (c.ClearContext, answered, lambda s: s.clear()),
    (c.ImportThread, Signed, lambda s: s.run(c.ImportThread(request_id="i", source="o", digest="", messages=BROUGHT))),
    (c.CountUsage, running, lambda s: s.count(USAGE)),
    (c.CompactThread, answered, lambda s: s.compact()),
    (c.RewindThread, answered, lambda s: s.rewind(3)),
]  # fmt: skip
SESSION: list[tuple[type[ClientCommand], dict[str, Any]]] = [
    (c.CreateSession, {}),
    (c.PauseSession, {}),
    (c.ResumeSession, {"revision": 1}),
    (c.SetSessionBudget, {"budget": Budget(steps=3)}),
    (c.CreateSchedule, {"definition": NEWS}),
    (c.PauseSchedule, {"name": "news"}),
    (c.ResumeSchedule, {"name": "news"}),
    (c.DeleteSchedule, {"name": "news"}),
    (c.CancelSession, {}),
    (c.SetTitle, {"title": "A trip"}),
    (c.DescribeSession, {"made_of": MadeOf(agent="a", thread="main", through_seq=1), "log_seq": 1, "summary": "about"}),
    (c.CloseSession, {}),
]


def signatures(payload: Any) -> tuple[str, str | None]:  # noqa: ANN401 - a payload of any type
    return payload.principal, payload.reason


@pytest.mark.parametrize(("kind", "make", "do"), ROWS, ids=[f"{n}-{row[0].__name__}" for n, row in enumerate(ROWS)])
def test_a_command_to_a_thread_says_who_and_why_in_its_own_entry(
    kind: type[ClientCommand], make: Callable[[], Scene], do: Callable[[Scene], Step]
) -> None:
    step = must(do(make()))
    signed = [signatures(e.payload) for e in step.decided if hasattr(e.payload, "principal")]
    assert signed, step.types
    assert set(signed) == {(WHO, WHY)}


def test_a_command_to_a_session_says_who_and_why_in_its_own_entry() -> None:
    machine = ThreadMachine()
    for n, (kind, more) in enumerate(SESSION):
        assert machine.run_session(kind(request_id=f"r{n}", principal=WHO, reason=WHY, **more)) is None  # type: ignore[arg-type]
    assert [signatures(entry.payload) for entry in machine.session_entries] == [(WHO, WHY)] * len(SESSION)


def test_no_command_is_left_out() -> None:
    named = {kind for kind in vars(c).values() if isinstance(kind, type) and kind.__base__ in BASES}
    assert {row[0] for row in (*ROWS, *SESSION)} == named - BASES - BY_STORES
