"""A turn played against the journal alone, as a worker's activities would do it: no Temporal, no model."""

from __future__ import annotations

from dataclasses import dataclass

from turnwright.journal.agents import AgentDefinition, Limits, ToolSpec
from turnwright.journal.commands import (
    CallSpec,
    ClaimRun,
    CreateSession,
    FinishTool,
    RequestModel,
    RespondModel,
    RunCommand,
    StartTool,
    Submit,
)
from turnwright.journal.ids import ThreadKey, turn_id
from turnwright.journal.messages import Text, ToolCall, Usage, user
from turnwright.journal.store import Journal
from turnwright.journal.transact.thread_script import Outcome, Terms

RESULT_BYTES = 1_000
STEPS_MAX = 1_000_000
PRESENCE = "benchmark"
LEASE_S = 3_600.0
RUN = "run-1"
AGENT = AgentDefinition(
    name="agent",
    model="scripted:bench",
    tools=(ToolSpec(name="fetch", effect="read"),),
    limits=Limits(max_steps=STEPS_MAX),
)


@dataclass
class Conversation:
    """One running turn that can go on for any number of steps."""

    journal: Journal
    key: ThreadKey
    turn: str
    epoch: int
    number: int = 0

    @classmethod
    async def begin(cls, journal: Journal, session: str) -> Conversation:
        """Submit a turn in a new session, and claim it."""
        key = ThreadKey("bench", None, "agent", session)
        turn = turn_id(key, "turn")
        if (await journal.driver.liveness([PRESENCE]))[PRESENCE].state == "dead":
            await journal.driver.hold_presence(PRESENCE, {}, lease_s=LEASE_S)
            journal.terms = Terms(presence=PRESENCE)
        await journal.execute(key.session_key, CreateSession(request_id="create"))
        await journal.execute(key, Submit(request_id="turn", turn_id=turn, input=user("begin")))
        outcome = await journal.run(key, ClaimRun(turn_id=turn, run=RUN, start_epoch=0, definition=AGENT))
        return cls(journal, key, turn, outcome.control.epoch)

    async def step(self) -> None:
        """A model call that asks for one tool call, and that call: four transactions."""
        self.number += 1
        step, of = self.number, {"turn_id": self.turn, "run": RUN, "epoch": self.epoch, "step": self.number}
        claim = of | {"presence": PRESENCE}
        await self._run(RequestModel(**claim, nonce=f"m{step}", model=AGENT.model))  # type: ignore[arg-type]
        call = ToolCall(id=f"call-{step}", name="fetch", arguments={"page": step})
        specs = {"fetch": CallSpec("read")}
        answer = RespondModel(**of, ordinal=1, blocks=(call,), usage=Usage(requests=1), tools=specs)  # type: ignore[arg-type]
        outcome = await self._run(answer)
        active = outcome.control.active
        assert active is not None
        call_id = active.calls[0].call_id
        await self._run(StartTool(**claim, nonce=f"t{step}", call_id=call_id))  # type: ignore[arg-type]
        output = (Text(text="x" * RESULT_BYTES),)
        await self._run(FinishTool(**of, ordinal=1, call_id=call_id, outcome="success", output=output))  # type: ignore[arg-type]

    async def _run(self, command: RunCommand) -> Outcome:
        outcome = await self.journal.run(self.key, command)
        assert outcome.rejection is None, outcome.rejection
        return outcome
