"""Random histories of a thread: the part that people play.

Rule: people command what they like, when they like; what can change something they do more often.
"""

from __future__ import annotations

from typing import Any, Literal

from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, precondition, rule
from hypothesis.strategies import SearchStrategy as Strategy

from tests.unit.journal.agent import may
from tests.unit.journal.expectations import expected
from tests.unit.journal.scene import definition
from tests.unit.journal.scene_people import Settled
from tests.unit.journal.thread_machine import ThreadMachine
from tests.unit.journal.world import World
from turnwright.journal.budgets import Budget
from turnwright.journal.commands import (
    CancelSession,
    CancelThread,
    CancelTurn,
    ClientCommand,
    CloseSession,
    CloseThread,
    CreateSession,
    IfBusy,
    ImportThread,
    Inject,
    LoggedCommand,
    Look,
    PauseSession,
    PauseThread,
    PauseTurn,
    Reconcile,
    Respond,
    ResumeSession,
    ResumeThread,
    ResumeTurn,
    RetryTurn,
    SetSessionBudget,
    Steer,
    Submit,
    TurnCommand,
)
from turnwright.journal.control import ActiveTurn
from turnwright.journal.entries.turn import OnFailure
from turnwright.journal.ids import turn_id
from turnwright.journal.messages import Message, ToolCall, ToolResult, user

TURN_KINDS = ("steer", "pause", "resume", "resume_stale", "cancel", "retry", "respond", "reconcile")
THREAD_KINDS = ("pause", "resume", "resume", "resume", "resume_stale")
TURNS_QUEUED = 4
BROUGHT = (
    user("from elsewhere"),
    Message(role="assistant", blocks=(ToolCall(id="theirs", name="look"),)),
    Message(role="tool", blocks=(ToolResult(id="theirs", name="look"),)),
)
ANSWERS: dict[str, list[tuple[str, dict[str, Any]]]] = {
    "approval": [
        *[("approve", {}), ("approve", {}), ("deny", {})],
        ("approve", {"arguments": {"to": "eve"}}),
        ("approve", {"arguments": {"to": "bea"}}),
        ("approve", {"arguments": {"amount": 2}}),
        ("approve", {"always": True}),
        ("deny", {"always": True}),
        ("answer", {"value": 1}),
    ],
    "form": [("answer", {"value": 1}), ("answer", {}), ("decline", {}), ("approve", {})],
    "external": [("succeeded", {"output": "x"}), ("failed", {}), ("answer", {})],
    "budget": [("raise", {}), ("raise", {}), ("raise", {"budget": {"steps": 2}}), ("fail", {}), ("approve", {})],
    "unknown_outcome": [("approve", {})],
}

settlements: Strategy[Settled] = st.sampled_from(["succeeded", "failed", "run_again"])
rarely = st.integers(0, 40).map(lambda n: n == 7)


class PeopleOfAThread(RuleBasedStateMachine):
    """A thread, and what people do to it."""

    def __init__(self) -> None:
        super().__init__()
        self.world = World()
        self.number = 0

    @property
    def machine(self) -> ThreadMachine:
        return self.world.machine

    @property
    def active(self) -> ActiveTurn:
        active = self.machine.control.active
        assert active is not None, "a precondition of the rule"
        return active

    def new(self, what: str) -> str:
        self.number += 1
        return f"{what}-{self.number}"

    # -- the setting ------------------------------------------------------------------------------

    @initialize(
        asks=st.sampled_from([(), (), ("send",), ("send", "look"), ("*(to=eve)",)]),
        deadline_s=st.sampled_from([None, 20.0]), on_expiry=st.sampled_from(["expired", "approve"]),
        limits=st.sampled_from([{}, {"max_steps": 3}, {"max_tokens": 80}]),
        shared=st.sampled_from([None, None, Budget(steps=2), Budget(tokens=60), Budget(tool_calls=2)]),
        brought=st.sampled_from([False, False, True]),
    )  # fmt: skip
    def begin(
        self,
        asks: tuple[str, ...],
        deadline_s: float | None,
        on_expiry: Literal["expired", "approve"],
        limits: dict[str, Any],
        shared: Budget | None,
        brought: bool,
    ) -> None:
        self.agent = definition(may(ask=asks), deadline_s=deadline_s, on_expiry=on_expiry, **limits)
        if shared is not None:
            assert self.world.do_session(SetSessionBudget(request_id=self.new("budget"), budget=shared))
        if brought:
            begins = ImportThread(request_id=self.new("import"), source="openai", digest="", messages=BROUGHT)
            assert self.world.do(begins).rejection is None
        self.submit("enqueue", None, None)

    # -- people -------------------------------------------------------------------------------------

    @precondition(lambda self: len(self.machine.queue) < TURNS_QUEUED)
    @rule(
        if_busy=st.sampled_from([*["enqueue"] * 4, "reject", "interrupt"]),
        on_failure=st.sampled_from([None, "hold", "continue"]),
        budget=st.sampled_from([None, None, None, Budget(steps=1), Budget(tool_calls=1)]),
    )
    def submit(self, if_busy: IfBusy, on_failure: OnFailure | None, budget: Budget | None) -> None:
        request = self.new("submit")
        turn = turn_id(self.machine.key, request)
        how: dict[str, Any] = {"if_busy": if_busy, "on_failure": on_failure, "budget": budget}
        self.world.do(Submit(request_id=request, turn_id=turn, input=user("do"), **how))

    @precondition(lambda self: not self.machine.control.injected)
    @rule()
    def inject(self) -> None:
        self.world.do(Inject(request_id=self.new("inject"), message=user("material")))

    @precondition(lambda self: self.machine.turns)
    @rule(data=st.data(), looked=st.booleans())
    def command_a_turn(self, data: st.DataObject, looked: bool) -> None:
        target = data.draw(st.sampled_from(self._targets()))
        if looked:
            self.world.do(Look(turn_id=target))
        command = self._turn_command(data.draw(st.sampled_from(self._kinds(target))), target, data)
        code = expected(command, self.world.auditor, self.machine.session) if looked else None
        step = self.world.do(command)
        if looked:
            assert (step.rejection.code if step.rejection else None) == code

    def _kinds(self, target: str) -> list[str]:
        """Every command, and those more often that have something to change."""
        turn = self.world.auditor.turns[target]
        unknown = any(known.unknown for known in turn.calls.values())
        likely = {"retry": turn.phase == "failed", "resume": turn.pause != "none"}
        likely |= {"respond": bool(turn.questions), "reconcile": unknown}
        return [*TURN_KINDS, *(kind for kind, is_likely in likely.items() if is_likely for _ in range(4))]

    def _targets(self) -> list[str]:
        """Mostly the turn that counts: the active one, the front, the one that failed last."""
        active, queue, failed = self.machine.control.active, self.machine.queue, self.machine.control.failed
        counting = [t.turn_id for t in (active, queue[0] if queue else None, failed) if t is not None]
        return counting * 3 + list(self.machine.turns)

    def _turn_command(self, kind: str, target: str, data: st.DataObject) -> TurnCommand:
        it: dict[str, Any] = {"request_id": self.new(kind), "turn_id": target}
        revision = self.machine.turns[target].revision
        audited = self.world.auditor.turns[target]
        match kind:
            case "steer":
                return Steer(**it, message=user("also"))
            case "pause":
                return PauseTurn(**it)
            case "resume" | "resume_stale":
                return ResumeTurn(**it, revision=revision - (kind == "resume_stale"))
            case "cancel":
                return CancelTurn(**it)
            case "retry":
                return RetryTurn(**it)
            case "respond":
                older = [*self.world.auditor.settled][-2:] if data.draw(st.integers(0, 3)) == 0 else []
                question = data.draw(st.sampled_from([*audited.questions, *older] or ["q-none"]))
                kind, _ = audited.questions.get(question, ("approval", None))
                resolution, answer = data.draw(st.sampled_from(ANSWERS[kind]))
                return Respond(**it, interaction_id=question, resolution=resolution, answer=answer)
            case _:
                called = data.draw(st.sampled_from([*list(audited.calls)[-3:], "c-none"]))
                return Reconcile(**it, call_id=called, outcome=data.draw(settlements), reason="seen")

    @rule(kind=st.sampled_from(THREAD_KINDS), end=rarely, close=rarely)
    def command_the_thread(self, kind: str, end: bool, close: bool) -> None:
        kind = "cancel" if end else "close" if close else kind
        request = self.new(kind)
        revision = self.machine.control.pause.revision
        commands: dict[str, ClientCommand] = {
            "pause": PauseThread(request_id=request),
            "resume": ResumeThread(request_id=request, revision=revision),
            "resume_stale": ResumeThread(request_id=request, revision=revision - 1),
            "cancel": CancelThread(request_id=request),
            "close": CloseThread(request_id=request, mode="cancel" if self.number % 2 else "finish"),
        }
        self.world.do(commands[kind])

    @rule(kind=st.sampled_from(THREAD_KINDS), end=rarely, close=rarely)
    def command_the_session(self, kind: str, end: bool, close: bool) -> None:
        kind = "cancel" if end else "close" if close else kind
        request = self.new(kind)
        revision = self.machine.session.pause.revision
        commands: dict[str, LoggedCommand] = {
            "pause": PauseSession(request_id=request),
            "resume": ResumeSession(request_id=request, revision=revision),
            "resume_stale": ResumeSession(request_id=request, revision=revision - 1),
            "cancel": CancelSession(request_id=request),
            "close": CloseSession(request_id=request, mode="cancel" if self.number % 2 else "finish"),
        }
        self.world.do_session(commands[kind])
        assert not self.world.do_session(CreateSession(request_id=request)), "a session is created once"
