"""Whatever clients, workers and deaths come to, what is kept beside the entries is what the entries say."""

import asyncio
import random
from collections.abc import Callable, Coroutine
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import pytest

from tests.integration.journal.conftest import AGENT, SESSION, WORKER
from turnwright.journal.actions import ReconcileOp, Work
from turnwright.journal.commands import (
    CallSpec,
    CancelSession,
    CancelThread,
    CancelTurn,
    ClaimRun,
    CreateSession,
    EraseEntry,
    FailModel,
    FinishTool,
    ForkThread,
    Inject,
    InterruptModel,
    Look,
    PauseSession,
    PauseThread,
    PauseTurn,
    Reconcile,
    RequestModel,
    RespondModel,
    ResumeSession,
    ResumeThread,
    ResumeTurn,
    RetryTurn,
    RewindThread,
    RunCommand,
    SettleCall,
    StartTool,
    Steer,
    Submit,
)
from turnwright.journal.control import ActiveTurn, ThreadControl
from turnwright.journal.driver import Hold
from turnwright.journal.entries.operation import FailureClass, ToolOutcome
from turnwright.journal.ids import ThreadKey, turn_id
from turnwright.journal.messages import Text, ToolCall, Usage, user
from turnwright.journal.store import Journal
from turnwright.journal.store_verify import rebuild, verify
from turnwright.journal.transact.erasing import erase_entry
from turnwright.journal.transact.sweeping import find_cancelled

STEPS = 300
SEEDS = range(4)
FORKS_MAX = 6
KEYS = [ThreadKey("t", None, "agent", "s", name) for name in ("one", "two")]
SPECS = {"read": CallSpec("read"), "once": CallSpec("once"), "asked": CallSpec("once", reconcilable=True)}
FAILURES: list[FailureClass] = ["transient", "timeout", "auth", "invalid", "cut"]
OUTCOMES: list[ToolOutcome] = ["success", "error", "interrupted", "drained", "lost"]
USAGE = Usage(requests=1, input_tokens=3)


@dataclass
class Chance:
    """A client and two workers who do whatever the dice say; one of the workers dies from time to time."""

    journal: Journal
    dice: random.Random
    mortal: Hold | None = None
    numbers: int = 0
    keys: list[ThreadKey] = field(default_factory=lambda: list(KEYS))
    forks: list[tuple[ThreadKey, ThreadKey, int]] = field(default_factory=list)

    def request(self) -> str:
        """A request id, now and then one that was used before."""
        self.numbers += self.dice.random() < 0.95
        return f"r{self.numbers}"

    async def step(self) -> None:
        key = self.dice.choice(self.keys)
        act: Callable[[ThreadKey], Coroutine[Any, Any, None]] = self.dice.choices(
            [
                self.submit,
                self.command_turn,
                self.command_thread,
                self.command_session,
                self.work,
                self.die,
                self.erase,
                self.fork,
                self.rewind,
            ],
            [3, 4, 0.7, 0.5, 24, 0.7, 0.05, 0.3, 0.8],
        )[0]
        await act(key)

    async def submit(self, key: ThreadKey) -> None:
        request = self.request()
        if_busy = self.dice.choices(["enqueue", "reject", "interrupt"], [8, 1, 1])[0]
        on_failure = self.dice.choice([None, None, "continue", "hold"])
        submit = Submit(
            request_id=request,
            turn_id=turn_id(key, request),
            input=user(f"do {request}"),
            if_busy=if_busy,  # type: ignore[arg-type]
            on_failure=on_failure,  # type: ignore[arg-type]
        )
        await self.journal.execute(
            key, self.dice.choices([submit, Inject(request_id=request, message=user("x"))], [5, 1])[0]
        )

    async def command_turn(self, key: ThreadKey) -> None:
        turn = await self.any_turn(key)
        if turn is None:
            return
        control, status = await self.control(key), await self.journal.turn(key, turn)
        of: dict[str, Any] = {"request_id": self.request(), "turn_id": turn}
        revision = (0 if status is None else status.revision) - self.dice.choice([0, 0, 0, 1])
        active = control.turn(turn)
        unknown = [] if active is None else [call.call_id for call in active.calls if call.state == "unknown"]
        outcome = self.dice.choice(["succeeded", "failed", "run_again"])
        if unknown:
            await self.journal.execute(key, Reconcile(**of, call_id=unknown[0], outcome=outcome, reason="seen"))  # type: ignore[arg-type]
        elif status is not None and status.phase == "failed":
            await self.journal.execute(key, RetryTurn(**of))
        elif status is not None and status.held:
            await self.journal.execute(key, ResumeTurn(**of, revision=revision))
        else:
            command = [Steer(**of, message=user("also")), PauseTurn(**of), CancelTurn(**of)]
            await self.journal.execute(key, self.dice.choices(command, [4, 2, 1])[0])

    async def command_thread(self, key: ThreadKey) -> None:
        control, request = await self.control(key), self.request()
        resume = ResumeThread(request_id=request, revision=control.pause.revision)
        pause = PauseThread(request_id=request)
        if control.pause.on:
            await self.journal.execute(key, resume)
        else:
            await self.journal.execute(key, self.dice.choices([pause, CancelThread(request_id=request)], [3, 1])[0])

    async def command_session(self, _: ThreadKey) -> None:
        session, request = await self.journal.session(SESSION), self.request()
        revision = 0 if session is None else session.control.pause.revision
        resume = ResumeSession(request_id=request, revision=revision)
        pause, cancel = PauseSession(request_id=request), CancelSession(request_id=request)
        if session is not None and session.control.pause.on:
            await self.journal.execute(SESSION, resume)
        else:
            await self.journal.execute(SESSION, self.dice.choices([pause, cancel], [3, 1])[0])

    async def work(self, key: ThreadKey) -> None:
        """What a worker does next on the thread, more or less."""
        dispatch = await self.journal.dispatch(key)
        turn = dispatch.turn_id or await self.any_turn(key)
        if turn is None:
            return
        control = await self.control(key)
        self.numbers += 1
        of: dict[str, Any] = {"turn_id": turn, "epoch": control.epoch}
        active = control.turn(turn)
        claim = ClaimRun(
            turn_id=turn,
            run=f"run-{self.numbers}",
            start_epoch=control.epoch - (self.dice.random() < 0.1),
            definition=AGENT,
        )
        if active is None or self.dice.random() < 0.1:
            await self.journal.run(key, claim)
        else:
            await self.journal.run(key, self.operate(active, of, dispatch.action))

    def operate(self, active: ActiveTurn, of: dict[str, Any], action: object) -> RunCommand:
        presence = WORKER if self.mortal is None or self.dice.random() < 0.7 else self.mortal.name
        claims: dict[str, Any] = {"nonce": f"n{self.numbers}", "presence": presence}
        commands: list[RunCommand] = [Look(**of), self.about_model(active, of)]
        for call in active.calls if self.dice.random() < 0.9 else ():
            about = of | {"step": active.step, "call_id": call.call_id}
            commands += [
                StartTool(**about, **claims),
                FinishTool(
                    **about, ordinal=call.ordinal, outcome=self.dice.choice(OUTCOMES), output=(Text(text="out"),)
                ),
            ]
        if isinstance(action, Work):
            commands += [
                SettleCall(
                    **of, step=op.step, ordinal=op.ordinal, call_id=op.call_id,
                    outcome=self.dice.choice(["succeeded", "run_again", "unknown"]),
                )
                for op in action.start
                if isinstance(op, ReconcileOp)
            ]  # fmt: skip
        ask = RequestModel(**of, **claims, step=active.step + (active.model is None))
        ready = [command for command in commands[2:] if isinstance(command, StartTool | FinishTool | SettleCall)]
        return self.dice.choice([*commands, *ready, *ready, ask, ask])

    def about_model(self, active: ActiveTurn, of: dict[str, Any]) -> RunCommand:
        model = active.model
        about = of | {"step": active.step, "ordinal": self.dice.randint(1, 2) if model is None else model.ordinal}
        names = self.dice.choices([*SPECS, "missing"], k=self.dice.choice([0, 0, 1, 2]))
        calls = tuple(ToolCall(id=str(n), name=name, arguments={"n": n}) for n, name in enumerate(names))
        answer = RespondModel(**about, blocks=(Text(text="so"), *calls), usage=USAGE, tools=SPECS)
        fail = FailModel(**about, failure=self.dice.choice(FAILURES), message="no", usage=USAGE)
        stop = InterruptModel(**about, reason=self.dice.choice(["cancelled", "drained"]), partial=(Text(text="s"),))
        return self.dice.choices([answer, fail, stop], [6, 1, 1])[0]

    async def die(self, _: ThreadKey) -> None:
        """The mortal worker dies, or another is born."""
        if self.mortal is not None:
            await self.mortal.release()
            self.mortal = None
            return
        self.numbers += 1
        self.mortal = await self.journal.driver.hold_presence(f"mortal-{self.numbers}", {}, lease_s=600)

    async def erase(self, key: ThreadKey) -> None:
        row = await self.journal.thread(key)
        if row is not None and row.seq:
            command = EraseEntry(request_id=self.request(), seq=self.dice.randint(1, row.seq))
            await self.journal.driver.write(partial(erase_entry, key, command))

    async def fork(self, key: ThreadKey) -> None:
        row, request = await self.journal.thread(key), self.request()
        if row is None or len(self.forks) >= FORKS_MAX:
            return
        at = self.dice.choice([None, self.dice.randint(0, row.seq)])
        receipt = await self.journal.execute(key, ForkThread(request_id=request, at_seq=at))
        if receipt.status == "accepted" and not receipt.duplicate and receipt.thread is not None:
            made = replace(key, thread=receipt.thread)
            self.keys.append(made)
            self.forks.append((made, key, row.seq if at is None else at))

    async def rewind(self, key: ThreadKey) -> None:
        row = await self.journal.thread(key)
        if row is not None and row.seq:
            to, seq = self.dice.randint(1, row.seq), row.seq - self.dice.choice([0, 0, 0, 1])
            await self.journal.execute(key, RewindThread(request_id=self.request(), to_seq=to, expected_seq=seq))

    async def control(self, key: ThreadKey) -> ThreadControl:
        row = await self.journal.thread(key)
        return ThreadControl() if row is None else row.control

    async def any_turn(self, key: ThreadKey) -> str | None:
        control = await self.control(key)
        known = [turn.turn_id for turn in (control.active, control.failed) if turn is not None]
        if control.queued and self.dice.random() < 0.5:
            known.append((await self.journal.dispatch(key)).turn_id or "")
        return self.dice.choice(known) if known else None


@pytest.mark.slow
@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("at_once", [1, 6])
async def test_a_random_history_is_proven_and_rebuilt_as_it_was(journal: Journal, seed: int, at_once: int) -> None:
    chance = Chance(journal, random.Random(seed))
    await journal.execute(SESSION, CreateSession(request_id="create"))
    for _ in range(STEPS // at_once):
        await asyncio.gather(*(chance.step() for _ in range(at_once)))
    assert [finding async for proof in verify(journal) for finding in proof.findings] == []
    assert chance.forks or at_once > 1
    states = [await journal.state(key) for key in chance.keys]
    rows = [await journal.thread(key) for key in chance.keys]
    assert {done.kept async for done in rebuild(journal)} <= {
        "",
        *(f"the content of {n} entries was erased" for n in range(9)),
    }
    fresh = Journal(journal.driver)
    assert [await fresh.state(key) for key in chance.keys] == states
    for made, origin, at in chance.forks if at_once == 1 else ():
        [begun, base] = [await fresh.state(made, 1), await fresh.state(origin, at)]
        assert [m.blocks for m in begun.context][: len(base.context)] == [m.blocks for m in base.context]
        assert (begun.permissions, begun.plan, begun.tasks) == (base.permissions, base.plan, base.tasks)
    for row, key in zip(rows, chance.keys, strict=True):
        again = await fresh.thread(key)
        assert (row and (row.control, row.hash, row.runnable)) == (
            again and (again.control, again.hash, again.runnable)
        )
    for key in chance.keys:
        await journal.dispatch(key)
    page = await journal.driver.read(partial(find_cancelled, 0, 10, 10))
    assert all(suspect.turn_id for suspect in page.suspects)
