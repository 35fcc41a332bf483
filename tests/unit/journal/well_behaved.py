"""A worker that does what the plan says, and people who answer: with them, every thread comes to rest.

Rule: it knows nothing but the answers it is given. If it cannot empty a queue, the plan has a hole.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import count

from tests.unit.journal.scene import SPECS, USAGE, call, definition
from tests.unit.journal.thread_machine import Step, ThreadMachine
from turnwright.journal.actions import Action, Delay, ModelOp, Op, Park, ReconcileOp, ToolOp, Work
from turnwright.journal.budgets import Budget, Used
from turnwright.journal.commands import (
    ClaimRun,
    EndChild,
    FinishTool,
    Look,
    Reconcile,
    RequestModel,
    Respond,
    RespondModel,
    ResumeSession,
    ResumeThread,
    ResumeTurn,
    RunCommand,
    SetSessionBudget,
    SettleCall,
    StartTool,
)
from turnwright.journal.messages import Text
from turnwright.journal.turn_status import Phase

ROUNDS_PER_TURN_MAX = 40
# What they answer; the second if the first may not be.
WAYS = {"approval": ("approve", "deny"), "form": ("answer",), "external": ("succeeded",), "budget": ("raise",)}


def child_end(turn_id: str, child_turn: str, phase: Phase = "completed", tokens: int = 0) -> EndChild:
    """The end of a child, as its own transaction tells it."""
    return EndChild(
        turn_id=turn_id,
        child_turn=child_turn,
        phase=phase,
        used=Used(tokens=tokens),
        outcome="success" if phase == "completed" else "error",
        output=(Text(text=phase),),
    )


@dataclass
class WellBehaved:
    """People and a worker of one thread. Everybody else is gone."""

    machine: ThreadMachine
    calls_per_answer: int = 0
    presence: str = "good worker"
    _numbers: count[int] = field(default_factory=lambda: count(1))
    _epochs: dict[str, int] = field(default_factory=dict)

    def drain(self) -> None:
        """Carry on until nothing is active or queued; fail when that takes unreasonably long."""
        turns = [turn for turn in self.machine.turns.values() if not turn.finished]
        for _ in range((len(turns) + 1) * ROUNDS_PER_TURN_MAX):
            turn_id = self._next_turn()
            if turn_id is None:
                return
            self._round(turn_id)
        raise AssertionError(f"the thread does not come to rest: {self.machine.control}")

    def _next_turn(self) -> str | None:
        active, queue = self.machine.control.active, self.machine.queue
        if active is not None:
            return active.turn_id
        return queue[0].turn_id if queue else None

    def _round(self, turn_id: str) -> None:
        self._bury_the_others()
        self._lift_pauses()
        self._answer(turn_id)
        epoch = self._epochs.get(turn_id)
        step = self._claim(turn_id) if epoch is None else self._run(Look(turn_id=turn_id, epoch=epoch))
        if step.rejection is None:
            self._perform(turn_id, step.action)

    def _run(self, command: RunCommand) -> Step:
        return self.machine.run(command)

    def _claim(self, turn_id: str) -> Step:
        run = f"good-run-{next(self._numbers)}"
        step = self._run(
            ClaimRun(turn_id=turn_id, run=run, start_epoch=self.machine.control.epoch, definition=definition())
        )
        if step.rejection is None:
            self._epochs[turn_id] = self.machine.control.epoch
        return step

    def _bury_the_others(self) -> None:
        active = self.machine.control.active
        claims = () if active is None else active.claims
        self.machine.dead |= {claim.presence for claim in claims if claim.presence != self.presence}
        self.machine.reserved = Used()

    def _lift_pauses(self) -> None:
        machine = self.machine
        if machine.session.pause.on:
            revision = machine.session.pause.revision
            assert machine.run_session(ResumeSession(request_id=self._id(), revision=revision)) is None
        if machine.control.pause.on:
            revision = machine.control.pause.revision
            assert machine.run(ResumeThread(request_id=self._id(), revision=revision)).accepted
        for turn in list(machine.turns.values()):
            if turn.held:
                machine.run(ResumeTurn(request_id=self._id(), turn_id=turn.turn_id, revision=turn.revision))

    def _answer(self, turn_id: str) -> None:
        active = self.machine.control.active
        for child in () if active is None else active.children:
            self._run(child_end(turn_id, child.turn_id))
        for question in () if active is None else active.interactions:
            if question.kind == "unknown_outcome":
                called = question.call_id or ""
                answer = Reconcile(
                    request_id=self._id(), turn_id=turn_id, call_id=called, outcome="failed", reason="seen"
                )
                self.machine.run(answer)
                continue
            if question.scope == "session":
                assert self.machine.run_session(SetSessionBudget(request_id=self._id(), budget=Budget())) is None
                continue
            said = (self._respond(turn_id, question.interaction_id, way) for way in WAYS[question.kind])
            accepted = any(step.accepted for step in said)
            now = self.machine.control.turn(turn_id)
            stops = now is None or now.status.phase == "cancelling"
            assert accepted or stops, f"nobody can answer {question}"

    def _respond(self, turn_id: str, question: str, resolution: str) -> Step:
        return self.machine.run(
            Respond(request_id=self._id(), turn_id=turn_id, interaction_id=question, resolution=resolution)
        )

    def _id(self) -> str:
        return f"good-{next(self._numbers)}"

    def _perform(self, turn_id: str, action: Action) -> None:
        match action:
            case Work(start, _):
                for op in start[:1]:
                    self._operate(turn_id, op)
            case Delay(until_us, _):
                self.machine.clock_us = max(self.machine.clock_us, until_us)
            case Park():
                self._epochs.pop(turn_id, None)
            case _:
                self._epochs.pop(turn_id, None)

    def _operate(self, turn_id: str, op: Op) -> None:
        where = {"turn_id": turn_id, "epoch": self._epochs[turn_id], "step": op.step}
        claim = {"nonce": self._id(), "presence": self.presence}
        match op:
            case ModelOp(_, ordinal):
                if self._run(RequestModel(**where, **claim)).accepted:  # type: ignore[arg-type]
                    self._run(self._response(op.step, ordinal, where))
            case ToolOp(_, call_id, ordinal):
                asked = next(c for m in self.machine.state.context for c in m.calls if c.id == call_id)
                known = {"call_id": call_id, "spec": SPECS[asked.name], "arguments": asked.arguments}
                started = self._run(StartTool(**where, **claim, **known))  # type: ignore[arg-type]
                if "tool.started" in started.types:
                    ended = FinishTool(**where, ordinal=ordinal, call_id=call_id, outcome="success")  # type: ignore[arg-type]
                    self._run(ended)
            case ReconcileOp(_, call_id, ordinal):
                self._run(SettleCall(**where, ordinal=ordinal, call_id=call_id, outcome="unknown"))  # type: ignore[arg-type]

    def _response(self, step: int, ordinal: int, where: dict[str, object]) -> RespondModel:
        active = self.machine.control.active
        first = active is not None and step == active.first_step + 1
        names = sorted(SPECS)[: self.calls_per_answer] if first else ()
        blocks = (Text(text="well"), *(call(name) for name in names))
        return RespondModel(**where, ordinal=ordinal, blocks=blocks, usage=USAGE, tools=SPECS)  # type: ignore[arg-type]
