"""A worker's hands without Temporal: claims and testimony, straight to the journal."""

import hashlib
import itertools
from collections.abc import Mapping

from turnwright.client import Turn
from turnwright.journal import entry_ids
from turnwright.journal.agents import AgentDefinition, ToolSpec
from turnwright.journal.commands import (
    Ask,
    CallSpec,
    ClaimRun,
    FailModel,
    FinishTool,
    InterruptModel,
    Look,
    RequestModel,
    RespondModel,
    RunCommand,
    SettleCall,
    Spawn,
    StartTool,
)
from turnwright.journal.enlisted import take_in
from turnwright.journal.entries.operation import FailureClass
from turnwright.journal.ids import ThreadKey
from turnwright.journal.lineage import child_place
from turnwright.journal.messages import Block, Media, Text, ToolCall, Usage
from turnwright.journal.state_parts import PermissionState
from turnwright.journal.store import Journal
from turnwright.journal.transact.thread_script import Outcome

AGENT = "echo"
TOOL = ToolSpec(name="ledger", effect="once")


class Hands:
    """Carries turns out as one worker process would. `permissions`: what new threads begin with."""

    def __init__(self, journal: Journal, presence: str, permissions: PermissionState | None = None) -> None:
        self.journal = journal
        self.presence = presence
        self.permissions = permissions or PermissionState(mode="bypass")
        self.tool = TOOL
        self._numbers = itertools.count(1)

    async def claim(self, turn: Turn) -> int:
        """Take the turn for a new run; its epoch."""
        thread = await self.journal.thread(turn.key)
        assert thread is not None
        agent = turn.key.agent
        definition = AgentDefinition(name=agent, model="scripted:", tools=(self.tool,), permissions=self.permissions)
        run = f"{self.presence}-run-{next(self._numbers)}"
        claim = ClaimRun(turn_id=turn.id, run=run, start_epoch=thread.control.epoch, definition=definition)
        return (await self._do(turn, claim)).control.epoch

    async def ask_model(self, turn: Turn, step: int = 1) -> None:
        """Claim the run if it is not claimed, then the step's model call."""
        epoch = await self._epoch(turn) or await self.claim(turn)
        nonce = f"n{next(self._numbers)}"
        await self._do(turn, RequestModel(turn_id=turn.id, epoch=epoch, step=step, nonce=nonce, presence=self.presence))

    async def answer(
        self, turn: Turn, *said: str | Block, step: int = 1, blobs: Mapping[str, bytes] | None = None
    ) -> None:
        """The model answers, by the attempt that runs."""
        blocks = tuple(Text(text=block) if isinstance(block, str) else block for block in said)
        usage = Usage(requests=1, input_tokens=5, output_tokens=5)
        command = RespondModel(
            turn_id=turn.id,
            epoch=await self._epoch(turn),
            step=step,
            ordinal=await self._ordinal(turn),
            blocks=blocks,
            usage=usage,
            blobs=blobs or {},
            tools={TOOL.name: CallSpec(effect="once", reconcilable=self.tool.reconcilable)},
        )
        await self._do(turn, command)

    async def finish(self, turn: Turn, text: str = "done") -> None:
        """The whole of a turn of one step."""
        await self.ask_model(turn)
        await self.answer(turn, text)

    async def draw(self, turn: Turn, picture: bytes, mime: str = "image/png") -> str:
        """The whole of a turn that answers with a picture; the name of its bytes."""
        name = hashlib.sha256(picture).hexdigest()
        await self.ask_model(turn)
        await self.answer(turn, "Here it is:", Media(mime=mime, blob=name), blobs={name: picture})
        return name

    async def answer_with_call(self, turn: Turn, step: int = 1, arguments: dict[str, object] | None = None) -> None:
        """The running attempt's answer is a call of the tool, so that more is to come."""
        await self.answer(turn, ToolCall(id="c", name=TOOL.name, arguments=arguments or {"n": 1}), step=step)

    async def interrupt_model(self, turn: Turn, step: int = 1) -> None:
        """The running attempt was stopped."""
        command = InterruptModel(
            turn_id=turn.id,
            epoch=await self._epoch(turn),
            step=step,
            ordinal=await self._ordinal(turn),
            reason="cancelled",
        )
        await self._do(turn, command)

    async def fail_model(self, turn: Turn, failure: FailureClass, step: int = 1) -> None:
        command = FailModel(
            turn_id=turn.id,
            epoch=await self._epoch(turn),
            step=step,
            ordinal=await self._ordinal(turn),
            failure=failure,
            message="refused by the test",
        )
        await self._do(turn, command)

    async def want_tool(self, turn: Turn, step: int = 1, arguments: dict[str, object] | None = None) -> str:
        """The model calls the tool; the call's id."""
        await self.ask_model(turn, step)
        await self.answer_with_call(turn, step, arguments)
        return await self._call_id(turn)

    async def call_tool(self, turn: Turn, step: int = 1) -> str:
        """The model calls the tool, and the call is started; its id."""
        call_id = await self.want_tool(turn, step)
        await self.start_tool(turn, call_id, step)
        return call_id

    async def start_tool(self, turn: Turn, call_id: str, step: int = 1) -> None:
        nonce = f"n{next(self._numbers)}"
        start = StartTool(
            turn_id=turn.id,
            epoch=await self._epoch(turn),
            step=step,
            nonce=nonce,
            presence=self.presence,
            call_id=call_id,
        )
        await self._do(turn, start)

    async def defer_tool(self, turn: Turn, call_id: str, ask: Ask, step: int = 1) -> None:
        """The tool asks instead of giving a result."""
        epoch = await self._epoch(turn)
        command = FinishTool(
            turn_id=turn.id, epoch=epoch, step=step, ordinal=1, call_id=call_id, outcome="deferred", asks=ask
        )
        await self._do(turn, command)
        await self.look(turn, newest=True)

    async def open_child(self, turn: Turn, step: int = 1) -> str:
        """A call of the turn opens a turn of the same agent, which is queued; its id."""
        return await self._spawn(turn, await self.call_tool(turn, step), step)

    async def open_children(self, turn: Turn, count: int) -> list[str]:
        """So many calls of the turn's first answer open one each; their ids."""
        await self.ask_model(turn)
        await self.answer(turn, *(ToolCall(id=f"c{n}", name=TOOL.name) for n in range(count)))
        calls = [entry_ids.call(turn.id, 1, n) for n in range(count)]
        for call_id in calls:
            await self.start_tool(turn, call_id)
        return [await self._spawn(turn, call_id, 1) for call_id in calls]

    async def _spawn(self, turn: Turn, call_id: str, step: int) -> str:
        place = child_place(turn.key, turn.id, call_id, turn.key.agent)
        command = FinishTool(
            turn_id=turn.id,
            epoch=await self._epoch(turn),
            step=step,
            ordinal=1,
            call_id=call_id,
            outcome="deferred",
            spawns=Spawn(place=place, task="look it up"),
        )
        await self._do(turn, command)
        await self.look(turn, newest=True)
        await self.take_in(place.key)
        return place.turn_id

    async def take_in(self, key: ThreadKey) -> int:
        """Take in what other threads asked of one."""
        return await take_in(self.journal.driver, key, self.journal.terms)

    async def finish_tool(self, turn: Turn, call_id: str, text: str = "ok", step: int = 1) -> None:
        epoch = await self._epoch(turn)
        command = FinishTool(
            turn_id=turn.id,
            epoch=epoch,
            step=step,
            ordinal=1,
            call_id=call_id,
            outcome="success",
            output=(Text(text=text),),
        )
        await self._do(turn, command)

    async def doubt(self, turn: Turn, call_id: str, said: str) -> None:
        """The tool's hook cannot find out what became of its call, and says why."""
        epoch, output = await self._epoch(turn), (Text(text=said),)
        command = SettleCall(
            turn_id=turn.id, epoch=epoch, step=1, ordinal=1, call_id=call_id, outcome="unknown", output=output
        )
        await self._do(turn, command)

    async def look(self, turn: Turn, *, newest: bool = False) -> Outcome:
        """Record what is due."""
        return await self.journal.run(
            turn.key, Look(turn_id=turn.id, epoch=await self._epoch(turn) if newest else None)
        )

    async def _do(self, turn: Turn, command: RunCommand) -> Outcome:
        outcome = await self.journal.run(turn.key, command)
        assert outcome.rejection is None, outcome.rejection
        return outcome

    async def _epoch(self, turn: Turn) -> int:
        """The thread's epoch, 0 when the turn has no run yet."""
        thread = await self.journal.thread(turn.key)
        assert thread is not None
        return thread.control.epoch if thread.control.turn(turn.id) else 0

    async def _ordinal(self, turn: Turn) -> int:
        thread = await self.journal.thread(turn.key)
        active = None if thread is None else thread.control.turn(turn.id)
        assert active is not None
        assert active.model is not None
        return active.model.ordinal

    async def _call_id(self, turn: Turn) -> str:
        thread = await self.journal.thread(turn.key)
        active = None if thread is None else thread.control.turn(turn.id)
        assert active is not None
        return active.calls[0].call_id
