"""What is given to a thread when something is to happen to its worker, and the proof that nothing came of it.

A long errand is two turns, the first with effects that cannot be taken back, the second given more to think about, and
some material for the thread; a short one is a turn with one such effect. A call whose outcome nobody can know is
settled by a person who looks at the ledger. A workflow that is left of an ended turn, because Temporal still waits for
a dead worker, is ended by hand; `tests/faults/test_held_tasks.py` waits for that once.
"""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace

from tests.faults.harness.scripts import Step, call, say, task
from tests.faults.harness.transcript import Transcript
from tests.faults.harness.worker import Worker
from tests.faults.harness.world import World
from turnwright.client import Turn
from turnwright.journal.commands import Receipt

Plot = tuple[tuple[Step, ...], ...]
BOTH: Step = {"call": [{"name": "post", "arguments": {}}, {"name": "transfer", "arguments": {}}]}
LONG: Plot = ((BOTH, call("charge"), say("{result}")), (say("and now to something else"),))
SHORT: Plot = ((call("post"), say("{result}")),)
ONCE = ("post", "transfer")


@dataclass(frozen=True)
class Errands:
    """What was accepted on a thread."""

    world: World
    plot: Plot
    thread: str
    turns: tuple[Turn, ...]
    receipts: tuple[Receipt, ...]

    async def until_done(self, worker: Worker) -> bool:
        """Wait until the worker did everything there was to do; False when it died before that."""
        await self.world.until(lambda: self._over(worker))
        return worker.is_running

    async def assert_well(self, expected: Transcript) -> None:
        """What was said is as expected, every effect was had once, and every command is remembered."""
        assert [(await turn.status()).phase for turn in self.turns] == ["completed" for _ in self.turns]
        assert await self.world.transcript(self.thread) == expected
        had = {tool: self.world.ledger.keys("effect", tool, self.turns[0].id) for tool in _tools(self.plot)}
        assert {tool: len(set(keys)) for tool, keys in had.items()} == Counter(_tools(self.plot))
        assert [had[tool] for tool in ONCE if len(had.get(tool, ())) > 1] == []
        again = await give(self.world, self.plot, self.thread)
        assert again.receipts == tuple(replace(receipt, duplicate=True) for receipt in self.receipts)

    async def _over(self, worker: Worker) -> bool:
        first = self.turns[0]
        view = await first.status()
        for question in view.questions if view.status == "waiting" else ():
            assert question.kind == "unknown_outcome"
            await self.world.settle_by_the_ledger(first, question.call_id or "")
        ended = all([(await turn.status()).finished for turn in self.turns])
        if ended and worker.is_running:
            await self.world.end_what_waits_for_the_dead()
        return not worker.is_running or (ended and not await self.world.open_workflows())


async def give(world: World, plot: Plot, name: str) -> Errands:
    """Give the commands, and wake somebody for the last turn; given again they have the same receipts.

    The material comes first: a sweeper may wake the thread at any time, and what is said does not depend on that.
    """
    quiet, loud = world.muted.session(None, "s").thread("bot", name), world.thread(name)
    injected = await quiet.inject("it is Monday", request_id="injected")
    *before, (last, asked) = enumerate(plot)
    turns = [await quiet.submit(task(*steps), request_id=f"turn {n}") for n, steps in before]
    turns.append(await loud.submit(task(*asked), request_id=f"turn {last}"))
    steered = [await turn.steer("be quick about it", request_id="steered") for turn in turns[1:]]
    submitted = [turn.receipt for turn in turns if turn.receipt is not None]
    return Errands(world, plot, name, tuple(turns), (*submitted, *steered, injected))


async def said_undisturbed(world: World, plot: Plot, worker: Worker) -> Transcript:
    """What is said when nothing happens to this worker."""
    errands = await give(world, plot, "undisturbed")
    assert await errands.until_done(worker)
    return await world.transcript(errands.thread)


async def goes_on(world: World, plot: Plot, worker: Worker, fault: str, expected: Transcript) -> bool:
    """Let a worker that outlives it suffer this; False when it ended the errands before anything happened."""
    before = len(worker.logged("fault_strikes"))
    worker.arm(fault)
    errands = await give(world, plot, fault)
    assert await errands.until_done(worker)
    await errands.assert_well(expected)
    return len(worker.logged("fault_strikes")) > before


def _tools(plot: Plot) -> Iterator[str]:
    return (asked["name"] for steps in plot for step in steps for asked in step.get("call", ()))
