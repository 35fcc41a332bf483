"""Whatever people, runs, workers and clocks do in whatever order, a thread keeps its promises.

The promises are checked after every command by `World` and `Auditor`; here is only what may happen.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Literal, TypeAlias

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import precondition, rule, run_state_machine_as_test
from hypothesis.strategies import SearchStrategy as Strategy

from tests.unit.journal.administrators import ops
from tests.unit.journal.long_conversations import LONG, LongConversations
from tests.unit.journal.scene import SPECS, USAGE, call
from tests.unit.journal.thread_machine import Step
from tests.unit.journal.well_behaved import WellBehaved, child_end
from tests.unit.journal.world import Attempt, check_request
from turnwright.journal.actions import Delay, ModelOp, Op, ReconcileOp, ToolOp, Work
from turnwright.journal.budgets import Budget
from turnwright.journal.commands import (
    Ask,
    ClaimRun,
    FailModel,
    FinishTool,
    InterruptModel,
    Look,
    RequestModel,
    RespondModel,
    ResumeThread,
    SettleCall,
    Spawn,
    StartTool,
)
from turnwright.journal.decide.retry_policy import POLICY
from turnwright.journal.entries.operation import FailureClass, InterruptReason, ToolOutcome
from turnwright.journal.lineage import child_place
from turnwright.journal.messages import Block, Text, ToolCall
from turnwright.journal.turn_status import Phase

PRESENCES = ("w1", "w2", "w3")
TOOLS = (*SPECS, "no such tool")
PRESENCE_MOVES = ("dies", "lapses", "expires", "returns", "returns", "returns")
HookOutcome: TypeAlias = Literal["succeeded", "failed", "run_again", "unknown"]

hook_outcomes: Strategy[HookOutcome] = st.sampled_from(["succeeded", "failed", "run_again", "unknown"])
reasons: Strategy[InterruptReason] = st.sampled_from(["cancelled", "lost", "drained"])
failures: Strategy[FailureClass] = st.sampled_from(sorted(POLICY))
outcomes: Strategy[ToolOutcome] = st.sampled_from(
    [*["success"] * 5, "error", "denied", "interrupted", "unknown", "lost", "drained", *["deferred"] * 4]
)
people: Strategy[dict[str, Any]] = st.sampled_from([*[{"to": "bea"}] * 3, {"to": "eve"}])
kinds_of_asks: Strategy[Literal["form", "external", "approval"]] = st.sampled_from(["form", "external", "approval"])
seconds = st.sampled_from([-5.0, 0.1, 1.0, 30.0, 200.0])


class ThreadHistories(LongConversations):
    """Random histories of one thread: its people, a worker that gets on with it, and everybody who does not."""

    # -- a worker that gets on with it ----------------------------------------------------------------

    def _go_on(self, data: st.DataObject, moves: int) -> None:
        for _ in range(moves):
            if data.draw(st.booleans()):
                self._somebody_helps(data)
            active, queue = self.machine.control.active, self.machine.queue
            if active is not None and active.busy and data.draw(st.integers(0, 7)) == 0:
                kind = data.draw(st.sampled_from(["steer", "pause", "cancel"]))
                self.world.do(self._turn_command(kind, active.turn_id, data))
            elif self._may_give_way and data.draw(st.booleans()):
                self._give_way(self._model_attempts[-1], data)
            elif active is not None and active.busy and data.draw(st.integers(0, 3)):
                self._report_one_that_runs(data)
            elif active is not None:
                self._start_what_is_due(data)
            elif queue:
                self._claim(queue[0].turn_id)

    go_on = rule(data=st.data(), moves=st.integers(3, 12))(_go_on)
    go_on_too = rule(data=st.data(), moves=st.integers(3, 12))(_go_on)
    go_on_again = rule(data=st.data(), moves=st.integers(3, 12))(_go_on)

    def _somebody_helps(self, data: st.DataObject) -> None:
        """What keeps the thread from going on is answered, lifted or tried again."""
        control = self.machine.control
        waits = control.active is not None and control.active.status.phase == "waiting"
        if control.pause.on:
            self.world.do(ResumeThread(request_id=self.new("resume"), revision=control.pause.revision))
        elif waits or (control.failed is not None and control.active is None):
            helped = control.active.turn_id if control.active else control.failed.turn_id if control.failed else ""
            kind = self._kinds(helped)[-1]
            self.world.do(self._turn_command(kind, helped, data))

    def _report_one_that_runs(self, data: st.DataObject) -> None:
        active = self.active
        ordinals = {call.call_id: call.ordinal for call in active.calls if call.claim is not None}
        running = [
            a
            for a in self.world.attempts
            if (a.turn_id, a.step) == (active.turn_id, active.step)
            and (a.ordinal == ordinals.get(a.call_id) if a.call_id else active.model is not None)
        ]
        self._report(data.draw(st.sampled_from(running)), data)

    def _start_what_is_due(self, data: st.DataObject) -> None:
        """The newest run looks, and one of the operations it may start is claimed."""
        epoch, active = self.machine.control.epoch, self.active
        step = self.world.do(Look(turn_id=active.turn_id, epoch=epoch))
        if isinstance(step.action, Delay) and data.draw(st.booleans()):
            self.machine.clock_us = step.action.until_us
        if not isinstance(step.action, Work) or not step.action.start:
            return
        op = data.draw(st.sampled_from(step.action.start))
        presence = data.draw(st.sampled_from([p for p in PRESENCES if p not in self.machine.dead] or ["w4"]))
        where = {"turn_id": active.turn_id, "epoch": epoch, "step": op.step}
        assert self._take(op, where, presence, data).accepted, "what the plan gives may start"

    def _take(self, op: Op, where: dict[str, Any], presence: str, data: st.DataObject) -> Step:
        claim: dict[str, Any] = {"nonce": self.new("nonce"), "presence": presence}
        match op:
            case ModelOp():
                return self.world.do(RequestModel(**where, **claim))
            case ToolOp(_, call_id, _):
                return self.world.do(StartTool(**where, **claim, call_id=call_id, **self._known_of(call_id, data)))
            case ReconcileOp(_, call_id, ordinal):
                outcome = data.draw(hook_outcomes)
                return self.world.do(SettleCall(**where, ordinal=ordinal, call_id=call_id, outcome=outcome))

    def _known_of(self, call_id: str, data: st.DataObject) -> dict[str, Any]:
        """What a worker has read of a call; rarely it is not what was decided about."""
        asked = next((c for m in self.machine.state.context for c in m.calls if c.id == call_id), None)
        if asked is None:  # it was answered, and then the context was cleared
            return {}
        decided = self.active.call(call_id)
        other = data.draw(st.integers(0, 3 if decided is not None and decided.approved else 15)) == 0
        return {"spec": SPECS[asked.name], "arguments": data.draw(people) if other else asked.arguments}

    def _claim(self, target: str, *, back: int = 0, knows: bool = True) -> None:
        self.world.do(
            ClaimRun(
                turn_id=target,
                run=self.new("run"),
                start_epoch=max(0, self.machine.control.epoch - back),
                definition=self.agent if knows else None,
            )
        )

    # -- runs and workers that do not ----------------------------------------------------------------------

    @precondition(lambda self: self.machine.turns)
    @rule(data=st.data(), back=st.sampled_from([0, 0, 0, 1, 2]), knows=st.sampled_from([True, True, False]))
    def claim(self, data: st.DataObject, back: int, knows: bool) -> None:
        """A run starts, perhaps from an epoch of long ago, perhaps where the agent is not known."""
        self._claim(data.draw(st.sampled_from(self._targets())), back=back, knows=knows)

    @precondition(lambda self: self.machine.turns)
    @rule(data=st.data(), back=st.sampled_from([0, 0, 1, None]))
    def look(self, data: st.DataObject, back: int | None) -> None:
        epoch = None if back is None else self.machine.control.epoch - back
        self.world.do(Look(turn_id=data.draw(st.sampled_from(self._targets())), epoch=epoch))

    @precondition(lambda self: self.machine.control.active)
    @rule(
        back=st.sampled_from([0, 0, 1]), ahead=st.sampled_from([-1, 0, 1]), data=st.data(), tool=st.booleans(),
        presence=st.sampled_from(PRESENCES), outcome=hook_outcomes,
    )  # fmt: skip
    def claim_out_of_turn(
        self, back: int, ahead: int, data: st.DataObject, tool: bool, presence: str, outcome: HookOutcome
    ) -> None:
        """Somebody claims, or settles, what may not be due, for a run that may not be the newest."""
        active = self.active
        epoch, step = self.machine.control.epoch - back, max(1, active.step + ahead)
        where: dict[str, Any] = {"turn_id": active.turn_id, "epoch": epoch, "step": step}
        claim: dict[str, Any] = {"nonce": self.new("nonce"), "presence": presence}
        if not tool or not active.calls:
            self.world.do(RequestModel(**where, **claim))
            return
        chosen = data.draw(st.sampled_from(active.calls))
        self.world.do(StartTool(**where, **claim, call_id=chosen.call_id, **self._known_of(chosen.call_id, data)))
        ordinal = max(1, chosen.ordinal - back)
        self.world.do(SettleCall(**where, ordinal=ordinal, call_id=chosen.call_id, outcome=outcome))

    @precondition(lambda self: self.world.attempts)
    @rule(data=st.data(), off=st.sampled_from([0, 0, 0, 0, 0, 1, -1]))
    def report(self, data: st.DataObject, off: int) -> None:
        """An attempt of now or of long ago says what came of it, perhaps under a wrong number."""
        attempts = self.world.attempts
        attempt = data.draw(st.sampled_from([*attempts[-1:] * 3, *attempts[-5:], *attempts]))
        self._report(replace(attempt, ordinal=attempt.ordinal + off), data)

    def _report(self, attempt: Attempt, data: st.DataObject) -> None:
        self.world.do(self._tool_report(attempt, data) if attempt.call_id else self._model_report(attempt, data))

    def _model_report(self, attempt: Attempt, data: st.DataObject) -> RespondModel | FailModel | InterruptModel:
        it = self._of(attempt)
        match data.draw(st.sampled_from(["respond"] * 6 + ["fail", "interrupt"])):
            case "respond":
                names = data.draw(st.lists(st.sampled_from(TOOLS), min_size=data.draw(st.integers(0, 1)), max_size=3))
                calls = [self._call(name, data) for name in names]
                blocks: tuple[Block, ...] = (Text(text="words"), *calls)
                return RespondModel(**it, blocks=blocks, usage=USAGE, tools=SPECS)
            case "fail":
                failure = data.draw(failures)
                after = data.draw(st.sampled_from([None, 60.0]))
                return FailModel(**it, failure=failure, message="broken", retry_after_s=after, usage=USAGE)
            case _:
                reason = data.draw(reasons)
                return InterruptModel(**it, reason=reason, partial=(Text(text="wo"), call("send")), usage=USAGE)

    def _call(self, name: str, data: st.DataObject) -> ToolCall:
        return call(name, amount=1) if name == "refund" else call(name, **data.draw(people))

    def _tool_report(self, attempt: Attempt, data: st.DataObject) -> FinishTool:
        outcome = data.draw(outcomes)
        unsure = outcome == "interrupted" and data.draw(st.booleans())
        more: dict[str, Any] = {"effect_unknown": unsure, "duration_ms": 5}
        if outcome == "deferred" and data.draw(st.booleans()):
            more["spawns"] = self._spawn(attempt, data)
        elif outcome == "deferred":
            deadline_s = data.draw(st.sampled_from([None, 20.0]))
            kind = data.draw(kinds_of_asks)
            again = kind == "form" and data.draw(st.booleans())
            called = next((c for m in self.machine.state.context for c in m.calls if c.id == attempt.call_id), None)
            about = {"arguments": {} if called is None else called.arguments}
            more["asks"] = Ask(kind, about if kind == "approval" else {"prompt": "?"}, deadline_s, again=again)
        elif outcome == "success" and data.draw(st.integers(0, 2)) == 0:
            more["output"] = LONG
        elif data.draw(st.integers(0, 4)) == 0:
            more["ops"] = tuple(data.draw(st.lists(ops, min_size=1, max_size=2)))
        return FinishTool(**self._of(attempt), call_id=attempt.call_id or "", outcome=outcome, **more)

    def _spawn(self, attempt: Attempt, data: st.DataObject) -> Spawn:
        call_id = attempt.call_id or ""
        return Spawn(
            place=child_place(self.machine.key, attempt.turn_id, call_id, "helper"),
            task="look it up",
            detached=data.draw(st.integers(0, 3)) == 0,
            budget=data.draw(st.sampled_from([None, None, Budget(tokens=20)])),
            siblings=tuple(c.call_id for c in self.active.calls) if self.machine.control.active else (),
        )

    @precondition(lambda self: self.world.auditor.family.ever)
    @rule(data=st.data(), phase=st.sampled_from(["completed", "failed", "cancelled"]), tokens=st.integers(0, 40))
    def a_child_ends(self, data: st.DataObject, phase: Phase, tokens: int) -> None:
        """One that is waited for, or any other, once or again."""
        active = self.machine.control.active
        waited = [] if active is None else sorted(child.turn_id for child in active.children)
        child = data.draw(st.sampled_from([*waited * 5, *sorted(self.world.auditor.family.ever)]))
        self.world.do(child_end(data.draw(st.sampled_from(self._targets())), child, phase, tokens))

    def _of(self, attempt: Attempt) -> dict[str, Any]:
        return {
            "turn_id": attempt.turn_id, "epoch": attempt.epoch, "step": attempt.step, "ordinal": attempt.ordinal,
        }  # fmt: skip

    @precondition(lambda self: self.world.said)
    @rule(data=st.data())
    def say_it_again(self, data: st.DataObject) -> None:
        """A command is repeated as it was: the answer of its commit had been lost."""
        said, accepted = data.draw(st.sampled_from([*self.world.said[-1:] * 3, *self.world.said]))
        last = self.world.said[-1][0]
        step = self.world.do(said)
        assert not (said is last and accepted and step.decided and not step.settled), "a second trace was left"

    # -- death, silence, time -------------------------------------------------------------------------

    @rule(presence=st.sampled_from(PRESENCES), what=st.sampled_from(PRESENCE_MOVES))
    def somebody(self, presence: str, what: str) -> None:
        machine = self.machine
        for gone in (machine.dead, machine.lapsed, machine.expired):
            gone.discard(presence)
        if what == "dies":
            machine.dead.add(presence)
        if what in ("lapses", "expires"):
            machine.lapsed.add(presence)
        if what == "expires":
            machine.expired.add(presence)

    @rule(passed=seconds)
    def time_passes(self, passed: float) -> None:
        self.machine.clock_us += round(passed * 1_000_000)

    # -- what follows from the past ---------------------------------------------------------------------

    @rule(data=st.data())
    def rebuild(self, data: st.DataObject) -> None:
        self.world.check_folds(data.draw(st.sampled_from(self.world.checkpoints)))
        self.world.checkpoint()

    def teardown(self) -> None:
        """Every history is a fold of its stored entries, and every thread comes to rest."""
        self.world.check_everything()
        check_request(self.machine.state)
        machine = self.machine.copy()
        WellBehaved(machine, calls_per_answer=self.number % 4).drain()
        assert all(turn.finished for turn in machine.turns.values())
        self.world.auditor.ledger.elsewhere = machine.elsewhere + machine.reserved  # the others' calls have ended, too
        for entry in machine.entries[len(self.machine.entries) :]:
            self.world.auditor.read(entry, machine.session)


QUIET = [HealthCheck.too_slow, HealthCheck.filter_too_much, HealthCheck.data_too_large]
TestThreadHistories = ThreadHistories.TestCase
TestThreadHistories.settings = settings(
    max_examples=100, stateful_step_count=50, deadline=None, suppress_health_check=QUIET
)


@pytest.mark.slow
@pytest.mark.timeout(1_200)
def test_long_histories_keep_the_promises_too() -> None:
    thorough = settings(max_examples=300, stateful_step_count=60, deadline=None, suppress_health_check=QUIET)
    run_state_machine_as_test(ThreadHistories, settings=thorough)
