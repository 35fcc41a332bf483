"""Whatever clients, workers and deaths come to, what is kept beside the entries is what the entries say."""

import asyncio
import random
from collections.abc import Callable, Coroutine
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from tests.integration.journal.conftest import AGENT, SESSION, WORKER, Played
from tests.integration.journal.moving import proven, take, written
from turnwright.journal.actions import ModelOp, Park, ReconcileOp, ToolOp, Work
from turnwright.journal.agents import ContextPolicy
from turnwright.journal.commands import (
    CallSpec,
    CancelSession,
    CancelThread,
    CancelTurn,
    ClaimRun,
    CompactContext,
    CompactThread,
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
from turnwright.journal.context.candidate import candidate
from turnwright.journal.control import ActiveTurn, CallOperation, ModelOperation, ThreadControl
from turnwright.journal.driver import Hold
from turnwright.journal.entries import Entry
from turnwright.journal.entries.operation import FailureClass, ToolOutcome
from turnwright.journal.ids import ThreadKey, turn_id
from turnwright.journal.messages import Text, ToolCall, Usage, user
from turnwright.journal.store import Journal
from turnwright.journal.store_verify import rebuild, verify
from turnwright.journal.transact.erasing import erase_entry
from turnwright.journal.transact.sweeping import find_cancelled

STEPS = 300
SEEDS = range(4)
MOVED = range(2)
FORKS_MAX = 6
KEYS = [ThreadKey("t", None, "agent", "s", name) for name in ("one", "two")]
SPECS = {"read": CallSpec("read"), "once": CallSpec("once"), "asked": CallSpec("once", reconcilable=True)}
FAILURES: list[FailureClass] = ["transient", "timeout", "auth", "invalid", "cut"]
OUTCOMES: list[ToolOutcome] = ["success", "error", "interrupted", "drained", "lost"]
OUTPUTS = ["out", "out " * 600]
USAGE = Usage(requests=1, input_tokens=3)
NARROW = ContextPolicy(window_tokens=1_000, compact_above=0.2, compact_to=0.1, result_characters_max=1_000)


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
            [3, 4, 0.7, 0.5, 24, 0.7, 0.05, 0.8, 0.8],
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
        others = [PauseThread(request_id=request), CancelThread(request_id=request), CompactThread(request_id=request)]
        await self.journal.execute(key, resume if control.pause.on else self.dice.choices(others, [3, 1, 2])[0])

    async def command_session(self, _: ThreadKey) -> None:
        session, request = await self.journal.session(SESSION), self.request()
        revision = 0 if session is None else session.control.pause.revision
        resume = ResumeSession(request_id=request, revision=revision)
        pause, cancel = PauseSession(request_id=request), CancelSession(request_id=request)
        if session is not None and session.control.pause.on:
            await self.journal.execute(SESSION, resume)
        else:
            await self.journal.execute(SESSION, self.dice.choices([pause, cancel], [3, 1])[0])

    async def lift(self, key: ThreadKey) -> None:
        """Lift what pauses there are, or most of a history would be waiting."""
        session = await self.journal.session(SESSION)
        if session is not None and session.control.pause.on:
            await self.command_session(key)
        if (await self.control(key)).pause.on:
            await self.command_thread(key)

    async def work(self, key: ThreadKey) -> None:
        """What a worker does next on the thread, more or less."""
        dispatch = await self.journal.dispatch(key)
        turn = dispatch.turn_id or await self.any_turn(key)
        if isinstance(dispatch.action, Park) and self.dice.random() < 0.3:
            await self.lift(key)
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
        elif active.model is not None and active.model.claim is not None and self.dice.random() < 0.4:
            await self.give_way(key, active.model, of)
        else:
            due = self.due(active, of, dispatch.action) if self.dice.random() < 0.5 else None
            await self.journal.run(key, due or self.operate(active, of, dispatch.action))

    async def give_way(self, key: ThreadKey, model: ModelOperation, of: dict[str, Any]) -> None:
        """Who has the model call makes room, and says so again now and then, as if the answer had been lost."""
        found = candidate(await self.journal.state(key), NARROW)
        about: dict[str, Any] = of | {"step": model.step, "ordinal": model.ordinal, "usage": USAGE}
        if found is None or self.dice.random() < 0.2:
            command = CompactContext(**about, failed="no summary was to be had")
        else:
            summary = found.compacted("so far") if found.replaced else None
            command = CompactContext(**about, offloads=found.offloads, compacted=summary)
        for _ in range(self.dice.choice([1, 1, 2])):
            await self.journal.run(key, command)

    def due(self, active: ActiveTurn, of: dict[str, Any], action: object) -> RunCommand | None:
        """What a worker that gets on with the turn would do: start what may start, or end what runs."""
        claims: dict[str, Any] = {"nonce": f"n{self.numbers}", "presence": WORKER}
        if isinstance(action, Work) and action.start:
            match self.dice.choice(action.start):
                case ModelOp(step=step):
                    return RequestModel(**of, **claims, step=step)
                case ToolOp(step=step, call_id=call_id):
                    return StartTool(**of, **claims, step=step, call_id=call_id)
                case _:
                    return None
        if active.model is not None and active.model.claim is not None:
            return self.about_model(active, of)
        running = [call for call in active.calls if call.claim is not None]
        return self.finish(self.dice.choice(running), active, of) if running else None

    def finish(self, call: CallOperation, active: ActiveTurn, of: dict[str, Any]) -> FinishTool:
        output = (Text(text=self.dice.choice(OUTPUTS)),)
        about = of | {"step": active.step, "call_id": call.call_id, "ordinal": call.ordinal}
        return FinishTool(**about, outcome=self.dice.choice(OUTCOMES), output=output)

    def operate(self, active: ActiveTurn, of: dict[str, Any], action: object) -> RunCommand:
        presence = WORKER if self.mortal is None or self.dice.random() < 0.7 else self.mortal.name
        claims: dict[str, Any] = {"nonce": f"n{self.numbers}", "presence": presence}
        commands: list[RunCommand] = [Look(**of), self.about_model(active, of)]
        for call in active.calls if self.dice.random() < 0.9 else ():
            about = of | {"step": active.step, "call_id": call.call_id}
            commands += [StartTool(**about, **claims), self.finish(call, active, of)]
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
async def test_a_random_history_is_proven_rebuilt_and_moved_as_it_was(
    journal: Journal, seed: int, at_once: int, tmp_path: Path, target_url: str
) -> None:
    chance = Chance(journal, random.Random(seed))
    await journal.execute(SESSION, CreateSession(request_id="create"))
    for _ in range(STEPS // at_once):
        await asyncio.gather(*(chance.step() for _ in range(at_once)))
    assert [finding async for proof in verify(journal) for finding in proof.findings] == []
    logs = [await entries(journal, key) for key in chance.keys]
    for log in logs:
        assert len({entry.entry_id for entry in log}) == len(log), "something was recorded twice"
    kinds = {entry.type for log in logs for entry in log}
    assert at_once > 1 or (chance.forks and "context.compacted" in kinds)
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
    if seed in MOVED and at_once == 1:
        await assert_moves(journal, chance.keys, tmp_path / "s.jsonl", target_url)


async def assert_moves(journal: Journal, keys: list[ThreadKey], path: Path, target_url: str) -> None:
    """On the other store each thread is the same, and what its agent knows."""
    target = await Journal.open(target_url, migrate=True)
    try:
        await take(Played(target), await written(Played(journal), path))
        assert await proven(target) == []
        for key in keys:
            here, there = await journal.thread(key), await target.thread(key)
            assert (here and (here.control, here.hash)) == (there and (there.control, there.hash))
            assert await target.state(key) == await journal.state(key)
    finally:
        await target.close()


async def entries(journal: Journal, key: ThreadKey) -> list[Entry]:
    found: list[Entry] = []
    while page := await journal.entries(key, len(found)):
        found += page
    return found
