"""A scene for examples: a thread with people, runs and workers, in few words.

Rule: every method carries out one command and gives its `Step`; `must` and `refused` say what is expected of it.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import count
from typing import Literal

from tests.unit.journal.thread_machine import Step, ThreadMachine
from turnwright.journal.agents import AgentDefinition, Limits, ToolSpec
from turnwright.journal.commands import (
    CallSpec,
    CancelSession,
    CancelThread,
    CancelTurn,
    ClaimRun,
    ClientCommand,
    CreateSession,
    FailModel,
    FinishTool,
    IfBusy,
    Inject,
    InterruptModel,
    Look,
    PauseSession,
    PauseThread,
    PauseTurn,
    Reconcile,
    RequestModel,
    Respond,
    RespondModel,
    ResumeSession,
    ResumeThread,
    ResumeTurn,
    RetryTurn,
    RunCommand,
    SettleCall,
    StartTool,
    Steer,
    Submit,
)
from turnwright.journal.control import ActiveTurn, CallOperation
from turnwright.journal.entries.operation import FailureClass, InterruptReason, ToolOutcome
from turnwright.journal.entries.turn import OnFailure
from turnwright.journal.ids import turn_id
from turnwright.journal.messages import Block, Text, ToolCall, Usage, user
from turnwright.journal.state_parts import PermissionState
from turnwright.journal.turn_status import TurnStatus

TOOLS = (
    ToolSpec(name="look", effect="read"),
    ToolSpec(name="put", effect="idempotent"),
    ToolSpec(name="send", effect="once"),
    ToolSpec(name="wire", effect="once", reconcilable=True),
)
SPECS = {tool.name: CallSpec(tool.effect, tool.reconcilable) for tool in TOOLS}
USAGE = Usage(requests=1, input_tokens=10, output_tokens=5)
Settled = Literal["succeeded", "failed", "run_again"]


def definition(**limits: float) -> AgentDefinition:
    """An agent with a tool of each kind, which may use them unasked, and these limits."""
    unasked = PermissionState(mode="bypass")
    limited = Limits.model_validate(limits)
    return AgentDefinition(name="helper", model="scripted", tools=TOOLS, limits=limited, permissions=unasked)


def call(name: str, provider_id: str = "call_0", **arguments: object) -> ToolCall:
    """A call as a model makes it."""
    return ToolCall(id=provider_id, name=name, arguments=arguments)


def must(step: Step) -> Step:
    """The step, which was accepted."""
    assert step.rejection is None, step.rejection
    return step


def refused(step: Step) -> str:
    """The code with which the step was rejected; nothing but what was due anyway was recorded."""
    assert step.rejection is not None, step.types
    assert step.decided == ()
    return step.rejection.code


@dataclass
class Scene:
    """A thread of an existing session, and the run and worker that act unless others are named."""

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

    def submit(self, text: str = "task", *, if_busy: IfBusy = "enqueue", on_failure: OnFailure | None = None) -> Step:
        request = self.next_id("submit")
        turn = turn_id(self.machine.key, request)
        step = self.run(
            Submit(request_id=request, turn_id=turn, input=user(text), if_busy=if_busy, on_failure=on_failure)
        )
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

    def respond(self, resolution: str = "approve", *, question: str | None = None, reason: str | None = None) -> Step:
        asked = self.active.interactions[0].interaction_id if question is None else question
        return self.run(
            Respond(
                request_id=self.next_id("respond"),
                turn_id=self.turn,
                interaction_id=asked,
                resolution=resolution,
                reason=reason,
            )
        )

    def reconcile(self, call_id: str, outcome: Settled) -> Step:
        return self.run(
            Reconcile(request_id=self.next_id("reconcile"), turn_id=self.turn, call_id=call_id, outcome=outcome)
        )

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

    # -- runs and workers ---------------------------------------------------------------------------

    def claim(self, run: str | None = None, *, epoch: int | None = None, turn: str | None = None) -> Step:
        """A run takes the turn; a new run at the thread's epoch unless told otherwise."""
        return self.run(
            ClaimRun(
                turn_id=self.turn if turn is None else turn,
                run=self.next_id("run") if run is None else run,
                start_epoch=self.machine.control.epoch if epoch is None else epoch,
                definition=self.agent,
            )
        )

    def look(self) -> Step:
        """The newest run looks."""
        return self.run(Look(turn_id=self.turn, epoch=self.machine.control.epoch))

    def request(
        self, *, epoch: int | None = None, step: int | None = None, nonce: str | None = None, run: str = ""
    ) -> Step:
        """The worker claims the step's model call."""
        active = self.machine.control.active
        due = 1 if active is None else active.step + 1 if active.model is None else active.model.step
        return self.run(
            RequestModel(
                turn_id=self.turn,
                run=run,
                epoch=self.machine.control.epoch if epoch is None else epoch,
                step=due if step is None else step,
                nonce=self.next_id("nonce") if nonce is None else nonce,
                presence=self.worker,
            )
        )

    def respond_model(
        self, *blocks: Block, ordinal: int = 1, step: int | None = None, epoch: int | None = None, usage: Usage = USAGE
    ) -> Step:
        """An attempt brings an answer: `blocks`, or plain text that ends the turn."""
        return self.run(
            RespondModel(
                turn_id=self.turn,
                epoch=self.machine.control.epoch if epoch is None else epoch,
                step=self._step if step is None else step,
                ordinal=ordinal,
                blocks=blocks or (Text(text="done"),),
                usage=usage,
                tools=SPECS,
            )
        )

    def fail_model(
        self,
        failure: FailureClass = "transient",
        *,
        ordinal: int = 1,
        after_s: float | None = None,
        epoch: int | None = None,
        message: str = "it broke",
    ) -> Step:
        """An attempt fails."""
        return self.run(
            FailModel(
                turn_id=self.turn,
                epoch=self.machine.control.epoch if epoch is None else epoch,
                step=self._step,
                ordinal=ordinal,
                failure=failure,
                message=message,
                retry_after_s=after_s,
            )
        )

    def interrupt_model(self, reason: InterruptReason = "drained", *partial: Block, ordinal: int = 1) -> Step:
        return self.run(
            InterruptModel(
                turn_id=self.turn,
                epoch=self.machine.control.epoch,
                step=self._step,
                ordinal=ordinal,
                reason=reason,
                partial=partial,
                usage=USAGE,
            )
        )

    def start(self, call_id: str, *, nonce: str | None = None, epoch: int | None = None) -> Step:
        """The worker claims a call."""
        return self.run(
            StartTool(
                turn_id=self.turn,
                epoch=self.machine.control.epoch if epoch is None else epoch,
                step=self._step,
                nonce=self.next_id("nonce") if nonce is None else nonce,
                presence=self.worker,
                call_id=call_id,
            )
        )

    def finish(
        self,
        call_id: str,
        outcome: ToolOutcome = "success",
        *,
        ordinal: int = 1,
        step: int | None = None,
        text: str = "result",
        effect_unknown: bool = False,
        duration_ms: int = 0,
    ) -> Step:
        """An attempt of a call ends."""
        return self.run(
            FinishTool(
                turn_id=self.turn,
                epoch=self.machine.control.epoch,
                step=self._step if step is None else step,
                ordinal=ordinal,
                call_id=call_id,
                outcome=outcome,
                output=(Text(text=text),) if outcome in ("success", "error") else (),
                effect_unknown=effect_unknown,
                duration_ms=duration_ms,
            )
        )

    def settle_call(
        self,
        call_id: str,
        outcome: Literal["succeeded", "failed", "run_again", "unknown"],
        *,
        ordinal: int | None = None,
    ) -> Step:
        """The tool's reconcile hook answers, about the last attempt unless told otherwise."""
        known = self.active.call(call_id)
        last = 1 if known is None else known.ordinal
        return self.run(
            SettleCall(
                turn_id=self.turn,
                epoch=self.machine.control.epoch,
                step=self._step,
                ordinal=last if ordinal is None else ordinal,
                call_id=call_id,
                outcome=outcome,
            )
        )

    @property
    def _step(self) -> int:
        active = self.machine.control.active
        return 1 if active is None else active.step

    # -- a whole way at once --------------------------------------------------------------------------

    def running(self) -> Scene:
        """A submitted turn that a run has claimed."""
        must(self.submit())
        must(self.claim())
        return self

    def thinking(self) -> Scene:
        """A running turn whose first model call is claimed."""
        self.running()
        must(self.request())
        return self

    def calling(self, *names: str) -> list[str]:
        """A running turn whose model asked for these tools; gives the calls' ids."""
        self.thinking()
        must(self.respond_model(*(call(name) for name in names)))
        return [c.call_id for c in self.calls]

    def unknown(self, name: str = "send") -> str:
        """A running turn with a call that started and whose worker died; gives the call's id."""
        (call_id,) = self.calling(name)
        must(self.start(call_id))
        self.machine.dead.add(self.worker)
        self.worker = "w2"
        must(self.look())
        return call_id

    def failed(self, failure: FailureClass = "auth") -> Scene:
        """A turn whose first model call failed for good."""
        self.thinking()
        must(self.fail_model(failure))
        assert self.status.phase == "failed"
        return self
