"""A whole family in memory: the threads of a session, and what they ask of each other.

Rule: what a transaction asks of another thread waits in that thread's row until somebody delivers it, in order, each
thing once. A worker may leave any attempt behind; nobody raises a budget.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field, replace
from itertools import count

from tests.unit.journal.scene import SPECS, USAGE, call, definition
from tests.unit.journal.thread_machine import KEY, Step, ThreadMachine
from turnwright.journal.actions import ModelOp, Op, Park, ToolOp, Work
from turnwright.journal.budgets import Budget
from turnwright.journal.commands import (
    CancelTurn,
    ClaimRun,
    ClientCommand,
    CreateSession,
    EndChild,
    FinishTool,
    Look,
    RequestModel,
    Respond,
    RespondModel,
    RunCommand,
    Spawn,
    StartTool,
    Submit,
    TakeIn,
)
from turnwright.journal.entries import ChildSpawned, Payload
from turnwright.journal.ids import ThreadKey, turn_id
from turnwright.journal.lineage import child_place
from turnwright.journal.messages import Text, user
from turnwright.journal.posts import ChildCancel, ChildEnd, Post, posts_of
from turnwright.journal.turn_status import TurnStatus

CALLED = "put"


@dataclass
class Family:
    """The threads by key, and what waits for each."""

    machines: dict[ThreadKey, ThreadMachine] = field(default_factory=dict)
    waiting: dict[ThreadKey, deque[Post]] = field(default_factory=dict)
    _numbers: count[int] = field(default_factory=lambda: count(1))

    def begin(self, budget: Budget | None) -> str:
        """The turn above all; its id."""
        made = turn_id(KEY, "r")
        self.do(KEY, Submit(request_id="r", turn_id=made, input=user("task"), budget=budget))
        return made

    def do(self, key: ThreadKey, command: ClientCommand | RunCommand) -> Step:
        """Carry out a command, and keep what it asks of other threads."""
        machine = self.machine(key)
        before = machine.control
        step = machine.run(command)
        for post in posts_of(key, before, step.entries, machine.turns):
            self.waiting.setdefault(post.to, deque()).append(post)
        return step

    def machine(self, key: ThreadKey) -> ThreadMachine:
        if key not in self.machines:
            self.machines[key] = ThreadMachine(key=key)
            assert self.machines[key].run_session(CreateSession(request_id="create")) is None
        return self.machines[key]

    @property
    def undelivered(self) -> list[ThreadKey]:
        return sorted(key for key, posts in self.waiting.items() if posts)

    def deliver(self, key: ThreadKey) -> None:
        """Take in what was asked of the thread first."""
        match self.waiting[key].popleft().what:
            case TakeIn() as task:
                assert self.do(key, task).accepted
            case ChildCancel(child_turn=child):
                self.do(key, CancelTurn(request_id=self._id(), turn_id=child))
            case ChildEnd() as end:
                status = self.turns[end.child_turn]
                done = status.phase == "completed"
                told = EndChild(
                    turn_id=end.parent_turn,
                    child_turn=end.child_turn,
                    phase=status.phase,
                    used=end.used,
                    outcome="success" if done else "error",
                    output=(Text(text=status.phase),),
                )
                self.do(key, told)

    # -- a worker ---------------------------------------------------------------------------------

    @property
    def workable(self) -> list[ThreadKey]:
        """Threads whose active or first turn has something to do."""
        return sorted(key for key, machine in self.machines.items() if self._due(key, machine))

    def _due(self, key: ThreadKey, machine: ThreadMachine) -> bool:
        turn = self._turn(machine)
        return turn is not None and not isinstance(self.do(key, Look(turn_id=turn)).action, Park)

    def _turn(self, machine: ThreadMachine) -> str | None:
        active, queue = machine.control.active, machine.queue
        return active.turn_id if active is not None else queue[0].turn_id if queue else None

    def work(self, key: ThreadKey, calls: int, spawns: bool, detached: bool, dies: bool) -> None:
        """One operation of a new run; or its worker `dies` between claim and report."""
        machine, worker = self.machine(key), self._id()
        turn = self._turn(machine)
        if turn is None:
            return
        claim = ClaimRun(turn_id=turn, run=worker, start_epoch=machine.control.epoch, definition=definition())
        action = self.do(key, claim).action
        if isinstance(action, Work) and action.start:
            self._operate(key, turn, action.start[0], worker, calls, spawns, detached, dies)

    def _operate(
        self, key: ThreadKey, turn: str, op: Op, worker: str, calls: int, spawns: bool, detached: bool, dies: bool
    ) -> None:
        machine = self.machine(key)
        where = {"turn_id": turn, "epoch": machine.control.epoch, "step": op.step}
        taken = {"nonce": worker, "presence": worker}
        if isinstance(op, ModelOp):
            step = self.do(key, RequestModel(**where, **taken))  # type: ignore[arg-type]
        else:
            known = {"call_id": op.call_id, "spec": SPECS[CALLED]}
            step = self.do(key, StartTool(**where, **taken, **known))  # type: ignore[arg-type]
        assert step.accepted
        if dies:
            machine.dead.add(worker)
        elif isinstance(op, ModelOp):
            blocks = (Text(text="words"), *(call(CALLED) for _ in range(calls)))
            answer = RespondModel(**where, ordinal=op.ordinal, blocks=blocks, usage=USAGE, tools=SPECS)  # type: ignore[arg-type]
            self.do(key, answer)
        elif isinstance(op, ToolOp):
            end = FinishTool(**where, ordinal=op.ordinal, call_id=op.call_id, outcome="success")  # type: ignore[arg-type]
            self.do(key, self._spawning(key, end, detached) if spawns else end)

    def _spawning(self, key: ThreadKey, end: FinishTool, detached: bool) -> FinishTool:
        active = self.machine(key).control.active
        assert active is not None
        spawn = Spawn(
            place=child_place(key, end.turn_id, end.call_id, "helper"),
            task="look it up",
            detached=detached,
            siblings=tuple(c.call_id for c in active.calls),
        )
        return replace(end, outcome="deferred", spawns=spawn)

    # -- people ----------------------------------------------------------------------------------

    def refuse(self, key: ThreadKey) -> None:
        """Let what asks for a budget fail."""
        active = self.machine(key).control.active
        for question in () if active is None else active.interactions:
            answer = Respond(
                request_id=self._id(),
                turn_id=active.turn_id if active is not None else "",
                interaction_id=question.interaction_id,
                resolution="fail",
            )
            assert self.do(key, answer).accepted

    def _id(self) -> str:
        return f"n{next(self._numbers)}"

    # -- what is seen -----------------------------------------------------------------------------

    @property
    def payloads(self) -> dict[str, list[Payload]]:
        """Everything recorded about each turn."""
        found: dict[str, list[Payload]] = {turn: [] for turn in self.turns}
        for machine in self.machines.values():
            for entry in machine.entries:
                if entry.turn_id is not None:
                    found[entry.turn_id].append(entry.payload)
        return found

    @property
    def forsaken(self) -> set[str]:
        """Turns that go on, or wait to begin, although the parent that waited for them has ended."""
        payloads, turns = self.payloads, self.turns
        opened = {
            p.child_turn
            for turn, found in payloads.items()
            for p in found
            if turns[turn].finished and isinstance(p, ChildSpawned) and not p.detached
        }
        return {child for child in opened if child not in turns or not turns[child].finished}

    def depth(self, turn: str) -> int:
        """How many turns are above it."""
        parent = self.turns[turn].parent
        return 0 if parent is None else parent.depth

    def used(self, turn: str) -> int:
        """The tokens of its thread, which has no other turn."""
        [machine] = [machine for machine in self.machines.values() if turn in machine.turns]
        return machine.control.used.tokens

    @property
    def turns(self) -> dict[str, TurnStatus]:
        return {turn: status for machine in self.machines.values() for turn, status in machine.turns.items()}
