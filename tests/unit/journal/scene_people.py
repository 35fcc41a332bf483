"""The people of a scene: what they see of a thread and what they do to it, in few words.

Rule: every method carries out one command and gives its `Step`; `must` and `refused` say what is expected of it.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import count
from typing import Any, Literal

from tests.unit.journal.agent import definition
from tests.unit.journal.thread_machine import Step, ThreadMachine
from turnwright.journal.agents import AgentDefinition
from turnwright.journal.budgets import Budget
from turnwright.journal.commands import (
    CancelSession,
    CancelThread,
    CancelTurn,
    ChangeState,
    ClearContext,
    ClientCommand,
    CompactThread,
    CountUsage,
    CreateSession,
    IfBusy,
    Inject,
    PauseSession,
    PauseThread,
    PauseTurn,
    Reconcile,
    Respond,
    ResumeSession,
    ResumeThread,
    ResumeTurn,
    RetryTurn,
    RewindThread,
    RunCommand,
    SetBudget,
    SetPermissions,
    SetSessionBudget,
    Steer,
    Submit,
    UpdateState,
)
from turnwright.journal.control import ActiveTurn, CallOperation, OpenInteraction
from turnwright.journal.entries.turn import OnFailure
from turnwright.journal.ids import turn_id
from turnwright.journal.messages import Usage, user
from turnwright.journal.permissions.change import PermissionChange, RuleKind
from turnwright.journal.permissions.rules import parse_rule
from turnwright.journal.state_ops import StateOp
from turnwright.journal.turn_status import TurnStatus

Settled = Literal["succeeded", "failed", "run_again"]


def must(step: Step) -> Step:
    """The step, which was accepted."""
    assert step.rejection is None, step.rejection
    return step


def refused(step: Step) -> str:
    """The code with which the step was rejected; nothing but what was due anyway was recorded."""
    assert step.rejection is not None, step.types
    assert step.decided == ()
    return step.rejection.code


def rules(kind: RuleKind, *texts: str) -> PermissionChange:
    """A change that adds these rules."""
    return PermissionChange(add=tuple((kind, parse_rule(text)) for text in texts))


def no_rules(kind: RuleKind, *texts: str) -> PermissionChange:
    """A change that takes these rules back."""
    return PermissionChange(remove=tuple((kind, parse_rule(text)) for text in texts))


@dataclass
class People:
    """A thread of an existing session, and the turn that is meant unless another is named."""

    machine: ThreadMachine = field(default_factory=ThreadMachine)
    agent: AgentDefinition = field(default_factory=definition)
    turn: str = ""
    worker: str = "w1"
    _numbers: count[int] = field(default_factory=lambda: count(1))

    def __post_init__(self) -> None:
        assert self.machine.run_session(CreateSession(request_id="create")) is None

    # -- what is seen ---------------------------------------------------------------------------

    @property
    def status(self) -> TurnStatus:
        return self.machine.turns[self.turn]

    @property
    def active(self) -> ActiveTurn:
        active = self.machine.control.active
        assert active is not None
        return active

    @property
    def calls(self) -> tuple[CallOperation, ...]:
        return self.active.calls

    @property
    def questions(self) -> tuple[OpenInteraction, ...]:
        return self.active.interactions

    @property
    def results(self) -> list[tuple[str, str]]:
        """The tool and the outcome of every result in the context."""
        return [(r.name, r.outcome) for message in self.machine.state.context for r in message.results]

    def types(self, turn: str | None = None) -> list[str]:
        """The types of all of a turn's entries, or of the whole thread."""
        return [e.type for e in self.machine.entries if turn is None or e.turn_id == turn]

    def next_id(self, what: str) -> str:
        return f"{what}-{next(self._numbers)}"

    def run(self, command: ClientCommand | RunCommand) -> Step:
        return self.machine.run(command)

    def wait(self, seconds: float) -> None:
        self.machine.clock_us += round(seconds * 1_000_000)

    # -- people -----------------------------------------------------------------------------------

    def submit(
        self,
        text: str = "task",
        *,
        if_busy: IfBusy = "enqueue",
        on_failure: OnFailure | None = None,
        budget: Budget | None = None,
    ) -> Step:
        request = self.next_id("submit")
        turn = turn_id(self.machine.key, request)
        how: dict[str, Any] = {"if_busy": if_busy, "on_failure": on_failure, "budget": budget}
        step = self.run(Submit(request_id=request, turn_id=turn, input=user(text), **how))
        if step.accepted:
            self.turn = turn
        return step

    def steer(self, text: str = "also this") -> Step:
        return self.run(Steer(request_id=self.next_id("steer"), turn_id=self.turn, message=user(text)))

    def inject(self, text: str = "material") -> Step:
        return self.run(Inject(request_id=self.next_id("inject"), message=user(text)))

    def pause(self) -> Step:
        return self.run(PauseTurn(request_id=self.next_id("pause"), turn_id=self.turn))

    def resume(self, revision: int | None = None) -> Step:
        known = self.status.revision if revision is None else revision
        return self.run(ResumeTurn(request_id=self.next_id("resume"), turn_id=self.turn, revision=known))

    def cancel(self) -> Step:
        return self.run(CancelTurn(request_id=self.next_id("cancel"), turn_id=self.turn))

    def retry(self) -> Step:
        return self.run(RetryTurn(request_id=self.next_id("retry"), turn_id=self.turn))

    def respond(
        self,
        resolution: str = "approve",
        *,
        question: str | None = None,
        reason: str | None = None,
        principal: str = "ann",
        **answer: object,
    ) -> Step:
        """Somebody answers a question: the first that is open, unless another is named."""
        return self.run(
            Respond(
                request_id=self.next_id("respond"),
                turn_id=self.turn,
                interaction_id=self.questions[0].interaction_id if question is None else question,
                resolution=resolution,
                answer=answer,
                principal=principal,
                reason=reason,
            )
        )

    def reconcile(
        self, call_id: str, outcome: Settled, *, reason: str | None = "I looked", principal: str = "local"
    ) -> Step:
        command = Reconcile(
            request_id=self.next_id("reconcile"), principal=principal, reason=reason,
            turn_id=self.turn, call_id=call_id, outcome=outcome,
        )  # fmt: skip
        return self.run(command)

    def pause_thread(self) -> Step:
        return self.run(PauseThread(request_id=self.next_id("pause-thread")))

    def resume_thread(self, revision: int | None = None) -> Step:
        known = self.machine.control.pause.revision if revision is None else revision
        return self.run(ResumeThread(request_id=self.next_id("resume-thread"), revision=known))

    def cancel_thread(self) -> Step:
        return self.run(CancelThread(request_id=self.next_id("cancel-thread")))

    def pause_session(self) -> None:
        assert self.machine.run_session(PauseSession(request_id=self.next_id("pause-session"))) is None

    def resume_session(self) -> None:
        known = self.machine.session.pause.revision
        command = ResumeSession(request_id=self.next_id("resume-session"), revision=known)
        assert self.machine.run_session(command) is None

    def cancel_session(self) -> None:
        assert self.machine.run_session(CancelSession(request_id=self.next_id("cancel-session"))) is None

    def set_session_budget(self, **bounds: float) -> None:
        command = SetSessionBudget(request_id=self.next_id("budget"), budget=Budget.model_validate(bounds))
        assert self.machine.run_session(command) is None

    def set_budget(self, scope: Literal["thread", "turns"] = "thread", **bounds: float) -> Step:
        budget = Budget.model_validate(bounds)
        return self.run(SetBudget(request_id=self.next_id("budget"), scope=scope, budget=budget))

    def permit(self, change: PermissionChange) -> Step:
        return self.run(SetPermissions(request_id=self.next_id("permissions"), change=change, principal="ann"))

    def do(self, op: StateOp) -> Step:
        return self.run(ChangeState(request_id=self.next_id("op"), op=op, principal="ann"))

    def update(self, *, seq: int | None = None, **changes: object) -> Step:
        """Replace fields of the state as it is now, or was at `seq`."""
        read = self.machine.control.seq if seq is None else seq
        return self.run(
            UpdateState(request_id=self.next_id("update"), expected_seq=read, changes=changes, reason="tidy")
        )

    def count(self, usage: Usage) -> Step:
        return self.run(CountUsage(request_id=self.next_id("count"), usage=usage))

    def compact(self) -> Step:
        return self.run(CompactThread(request_id=self.next_id("compact"), principal="ann", reason="too slow"))

    def clear(self, *, seq: int | None = None) -> Step:
        return self.run(ClearContext(request_id=self.next_id("clear"), expected_seq=seq))

    def rewind(self, to: int, *, seq: int | None = None) -> Step:
        read = self.machine.control.seq if seq is None else seq
        return self.run(RewindThread(request_id=self.next_id("rewind"), to_seq=to, expected_seq=read))
