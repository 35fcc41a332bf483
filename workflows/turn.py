"""TurnWorkflow: a loop over the journal's plan. It keeps no truth.

Rule: take the next action (it rides on the last activity's result), perform it while listening, repeat.
Takeover, continue-as-new and rebuilding after Temporal's own loss are one path: claim, and ask what is
next. A signal only says "look again"; pause, resume and cancel typed by hand are journaled like any other
command. It leaves in this order: the fact is in the journal, the thread is woken, no wake-up is unseen.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from datetime import timedelta

from temporalio import workflow
from temporalio.common import RawValue

from turnwright.workflows.calls import journal_call, start_claim_elsewhere, start_operation, wake_thread
from turnwright.workflows.operations import Operations
from turnwright.workflows.payloads import (
    HAND_TYPED,
    TURN_WORKFLOW,
    WAKE,
    Claimed,
    ClaimInput,
    HandTyped,
    LookInput,
    Next,
    OpRef,
    StepInput,
    ThreadInput,
    TurnInput,
)

HISTORY_EVENTS_MAX = 2_000
HAND_TYPED_PENDING_MAX = 100
NOTES_MAX = 20
LOOK_AGAIN_FIRST_S = 30
LOOK_AGAIN_LONGEST_S = 600


@workflow.defn(name=TURN_WORKFLOW)
class TurnWorkflow:
    """Carries out one turn, for one run."""

    @workflow.init
    def __init__(self, given: TurnInput) -> None:
        self._given = given
        self._epoch = given.epoch
        self._has_turn = False
        self._woken = False
        self._typed: list[str] = []
        self._typed_count = 0
        self._notes: list[str] = []
        self._operations = Operations(self._start)
        self._next = Next("work")
        self._idle_waits = 0

    @workflow.run
    async def run(self, given: TurnInput) -> str:
        """Drive the turn until it ends, is parked, or a newer run has it; returns why it left.

        Temporal's own cancel reaches only this coroutine, and means what `cancel` means. It may come in the
        instant the drive ends, which then begins anew.
        """
        del given
        while True:
            drive = asyncio.create_task(self._drive())
            while not drive.done():
                try:
                    await workflow.wait_condition(drive.done)
                except asyncio.CancelledError:
                    self._type("cancel")
            why = drive.result()
            if self._woken:
                continue
            if why == "continue":
                workflow.continue_as_new(TurnInput(self._given.thread, self._given.turn, self._epoch))
            return why

    @workflow.signal(dynamic=True)
    def on_signal(self, name: str, args: Sequence[RawValue]) -> None:
        """Look again; a known command typed by hand is queued for the journal, whatever its arguments."""
        del args
        if name in HAND_TYPED:
            self._type(name)
        elif name != WAKE:
            self._note(f"unknown signal {name[:100]!r} was ignored; known are wake, pause, resume, cancel")
        self._woken = True

    @workflow.query
    def status(self) -> dict[str, object]:
        """What this run is doing. The journal is the truth; this is for Temporal's own tools."""
        return {
            "turn": self._given.turn,
            "epoch": self._epoch,
            "next": self._next.kind,
            "why": self._next.why,
            "operations": self._operations.names,
            "notes": list(self._notes),
        }

    async def _drive(self) -> str:
        self._next = await self._claim()
        while True:
            await self._journal_typed()
            if self._may_continue_as_new():
                return "continue"
            match self._next.kind:
                case "work":
                    self._next = await self._work(self._next)
                case "delay":
                    await self._wait(self._next.delay_s)
                    self._next = await self._look()
                case "agent_unknown":
                    self._next = await self._claim_elsewhere()
                case "park" | "stop":
                    if await self._leave():
                        return self._next.why
                    self._next = await self._look()

    async def _claim(self) -> Next:
        self._woken = False
        return self._given_turn(await journal_call("claim_turn", self._claim_input(), Claimed))

    async def _claim_elsewhere(self) -> Next:
        """No agent of that name here: let workers that know it claim the turn, and listen meanwhile."""
        claim = start_claim_elsewhere(self._claim_input())
        await workflow.wait_condition(lambda: self._woken or claim.done())
        if claim.done():
            return self._given_turn(claim.result())
        claim.cancel()
        return await self._look()

    def _claim_input(self) -> ClaimInput:
        return ClaimInput(self._given.thread, self._given.turn, self._epoch, workflow.info().run_id)

    def _given_turn(self, claimed: Claimed) -> Next:
        """The journal's epoch is ours only if the turn is; else it is where the next claim may start from."""
        self._epoch, self._has_turn = claimed.epoch, claimed.has_turn
        workflow.set_current_details(f"turn {self._given.turn}, epoch {self._epoch}")
        return claimed.next

    async def _work(self, planned: Next) -> Next:
        self._operations.follow(planned)
        if not self._operations.any:
            await self._wait_for_others()
            return await self._look()
        self._idle_waits = 0
        await workflow.wait_condition(lambda: self._woken or self._operations.some_done)
        said = self._operations.take_done()
        if self._woken or not said:
            return await self._look()
        return max(said, key=lambda newest: newest.seq)

    async def _wait_for_others(self) -> None:
        """What runs was claimed by attempts of another run, whose reports wake us; looking is a second net."""
        patience_s = min(LOOK_AGAIN_FIRST_S * 2**self._idle_waits, LOOK_AGAIN_LONGEST_S)
        self._idle_waits = min(self._idle_waits + 1, 10)
        await self._wait(patience_s)

    async def _look(self) -> Next:
        """Ask what is next; a run that was never given the turn asks for the turn."""
        if not self._has_turn:
            return await self._claim()
        self._woken = False
        given = LookInput(self._given.thread, self._given.turn, self._epoch)
        found: Next = await journal_call("look", given, Next)
        if found.why != "superseded":
            return found
        # After a reset it is only the run's name that is new, and the turn can be claimed again.
        self._has_turn = False
        return await self._claim()

    async def _wait(self, seconds: float) -> None:
        """Wait until woken, at most so long."""
        try:
            await workflow.wait_condition(lambda: self._woken, timeout=timedelta(seconds=seconds))
        except TimeoutError:
            return

    async def _leave(self) -> bool:
        """Wake the thread; whether nothing has been heard since, so that this run may end."""
        self._operations.abandon()
        await wake_thread(ThreadInput(self._given.thread))
        return not self._woken

    def _may_continue_as_new(self) -> bool:
        """Whether a new run is due: the history is long, or an operation broke in this one and none runs."""
        due = self._is_long() or self._operations.some_broken
        quiet = not self._woken and not self._typed and not self._operations.any
        leaves = self._next.kind in ("park", "stop")
        return due and quiet and not leaves and workflow.all_handlers_finished()

    def _is_long(self) -> bool:
        info = workflow.info()
        return info.is_continue_as_new_suggested() or info.get_current_history_length() > HISTORY_EVENTS_MAX

    def _start(self, ref: OpRef) -> workflow.ActivityHandle[Next]:
        given = StepInput(self._given.turn, self._epoch, ref.step, ref.call)
        return start_operation(ref, given)

    async def _journal_typed(self) -> None:
        if not self._typed:
            return
        while self._typed:
            name = self._typed.pop(0)
            self._typed_count += 1
            request = f"signal:{workflow.info().run_id}:{self._typed_count}"
            given = HandTyped(self._given.thread, self._given.turn, name, request)
            rejected: str = await journal_call("record_hand_typed", given, str)
            if rejected:
                self._note(rejected)
        self._next = await self._look()

    def _type(self, name: str) -> None:
        """Queue a command for the journal; the same twice in a row would only be rejected there."""
        self._woken = True
        if self._typed and self._typed[-1] == name:
            return
        if len(self._typed) < HAND_TYPED_PENDING_MAX:
            self._typed.append(name)
        else:
            self._note(f"{name} was ignored: {HAND_TYPED_PENDING_MAX} commands wait for the journal already")

    def _note(self, text: str) -> None:
        self._notes = [*self._notes, text][-NOTES_MAX:]
