"""A scene for examples: a thread with people, runs and workers, in few words.

Rule: every method carries out one command and gives its `Step`; `must` and `refused` say what is expected of it. A
worker that claims a call brings what it knows of it, as in production: the tool's spec and the arguments it has read.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

from tests.unit.journal.agent import SPECS, USAGE, call, definition
from tests.unit.journal.scene_people import People, must, no_rules, refused, rules
from tests.unit.journal.thread_machine import Step
from turnwright.journal.budgets import Used
from turnwright.journal.commands import (
    Ask,
    ClaimRun,
    FailModel,
    FinishTool,
    InterruptModel,
    Look,
    RequestModel,
    RespondModel,
    SettleCall,
    StartTool,
)
from turnwright.journal.entries.operation import FailureClass, InterruptReason, ToolOutcome
from turnwright.journal.messages import Block, Text, ToolCall, Usage
from turnwright.journal.permissions.facts import CallFacts

__all__ = ["SPECS", "USAGE", "Scene", "call", "definition", "must", "no_rules", "refused", "rules"]


@dataclass
class Scene(People):
    """A thread of an existing session, and the run and worker that act unless others are named."""

    def asked_for(self, call_id: str) -> ToolCall:
        """A call as the state holds it now."""
        calls = (c for message in reversed(self.machine.state.context) for c in message.calls)
        return next((c for c in calls if c.id == call_id), ToolCall(id=call_id, name="no such call"))

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
        self,
        *,
        epoch: int | None = None,
        step: int | None = None,
        nonce: str | None = None,
        run: str = "",
        reserve: int = 0,
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
                reserve=Used(tokens=reserve),
            )
        )

    def respond_model(
        self,
        *blocks: Block,
        ordinal: int = 1,
        step: int | None = None,
        epoch: int | None = None,
        usage: Usage = USAGE,
        facts: tuple[CallFacts, ...] = (),
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
                facts=facts,
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

    def start(
        self,
        call_id: str,
        *,
        nonce: str | None = None,
        epoch: int | None = None,
        arguments: dict[str, object] | None = None,
        facts: CallFacts | None = None,
    ) -> Step:
        """The worker claims a call, with the arguments that the state holds unless told otherwise."""
        asked = self.asked_for(call_id)
        return self.run(
            StartTool(
                turn_id=self.turn,
                epoch=self.machine.control.epoch if epoch is None else epoch,
                step=self._step,
                nonce=self.next_id("nonce") if nonce is None else nonce,
                presence=self.worker,
                call_id=call_id,
                spec=SPECS.get(asked.name),
                facts=facts,
                arguments=asked.arguments if arguments is None else arguments,
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
        **more: Any,  # noqa: ANN401 - further fields of the command
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
                **more,
            )
        )

    def ask(
        self,
        call_id: str,
        kind: Literal["form", "external", "approval"] = "form",
        *,
        ordinal: int = 1,
        deadline_s: float | None = None,
        schema: dict[str, Any] | None = None,
        again: bool = False,
    ) -> Step:
        """An attempt of a call ends with a question."""
        asked = {"prompt": "which one?"} | ({} if schema is None else {"schema": schema})
        asks = Ask(kind, asked, deadline_s, again=again)
        return self.finish(call_id, "deferred", ordinal=ordinal, asks=asks)

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

    def calling(self, *calls: str | ToolCall) -> list[str]:
        """A running turn whose model asked for these tools; gives the ids of the calls that may still run."""
        self.thinking()
        must(self.respond_model(*(call(c) if isinstance(c, str) else c for c in calls)))
        return [c.call_id for c in self.calls]

    def deferred(self, kind: Literal["form", "external"] = "form", name: str = "send") -> str:
        """A turn that waits for the answer to a question of its only call; gives the call's id."""
        (call_id,) = self.calling(name)
        must(self.start(call_id))
        must(self.ask(call_id, kind))
        return call_id

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
