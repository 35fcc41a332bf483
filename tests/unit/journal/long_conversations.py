"""Random histories of a thread: conversations that become too long for their model.

Rule: whoever has the model call may let something give way, rightly or wrongly, and whoever has it no more may try.
What stands there afterwards is judged by what stood there before, and not by the code that made it.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from hypothesis import strategies as st
from hypothesis.stateful import precondition, rule

from tests.unit.journal.administrators import AdministratorsOfAThread
from tests.unit.journal.agent import USAGE
from tests.unit.journal.world import Attempt
from turnwright.journal.agent_state import AgentState
from turnwright.journal.agents import ContextPolicy
from turnwright.journal.commands import CompactContext
from turnwright.journal.context.candidate import candidate
from turnwright.journal.entries import ContextCompacted, ContextOffloaded, Entry
from turnwright.journal.messages import Block, Message, Text, ToolResult

NARROW = ContextPolicy(
    window_tokens=1_000, compact_above=0.2, compact_to=0.1, result_characters_max=1_000, summary_tokens_max=100
)
WIDE = NARROW.model_copy(update={"window_tokens": 12_000})
LONG = (Text(text="seen " * 999),)


class LongConversations(AdministratorsOfAThread):
    """A thread, and what its workers make of a conversation that is too long."""

    @precondition(lambda self: self._model_attempts)
    @rule(data=st.data())
    def give_way(self, data: st.DataObject) -> None:
        """An attempt of now or of long ago wants room."""
        attempts = self._model_attempts
        self._give_way(data.draw(st.sampled_from([*attempts[-1:] * 3, *attempts])), data)

    @property
    def _model_attempts(self) -> list[Attempt]:
        return [attempt for attempt in self.world.attempts if attempt.call_id is None]

    @property
    def _may_give_way(self) -> bool:
        """Whether a model call is claimed whose attempt has not just tried."""
        active = self.machine.control.active
        claimed = active is not None and active.model is not None and active.model.claim is not None
        return claimed and not isinstance(self.world.said[-1][0], CompactContext)

    def _give_way(self, attempt: Attempt, data: st.DataObject) -> None:
        before = self.machine.state
        command = CompactContext(
            turn_id=attempt.turn_id,
            epoch=attempt.epoch,
            step=attempt.step,
            ordinal=attempt.ordinal,
            usage=USAGE,
            **self._room(before, data),
        )
        step = self.world.do(command)
        if not step.settled and not step.advanced:
            check_gave_way(before, self.machine.state, step.decided)

    def _room(self, state: AgentState, data: st.DataObject) -> dict[str, Any]:
        """What is to give way: a candidate, or whatever somebody thinks of."""
        found = candidate(state, data.draw(st.sampled_from([NARROW, NARROW, WIDE])), summarise=data.draw(st.booleans()))
        match data.draw(st.sampled_from([*["found"] * 5, "any", "any", "failed"])):
            case "found" if found is not None:
                summary = found.compacted("s").model_copy(update={"usage": USAGE}) if found.replaced else None
                return {"offloads": found.offloads, "compacted": summary}
            case "any" if state.context:
                seqs = st.sampled_from([message.seq for message in state.context])
                return {"compacted": data.draw(st.builds(_anything, seqs, seqs, st.sets(seqs, max_size=2), summaries))}
            case _:
                return {"failed": "no summary was to be had"}


summaries = st.sampled_from(["s", "s", "s", " ", "s" * 9_999])


def _anything(some: int, other: int, kept: set[int], summary: str) -> ContextCompacted:
    begin, end = min(some, other), max(some, other)
    return ContextCompacted(from_seq=begin, to_seq=end, kept=tuple(sorted(kept)), summary=summary, usage=USAGE)


def check_gave_way(before: AgentState, after: AgentState, entries: Iterable[Entry]) -> None:
    """What is left is what stood there, in its order; what is gone was whole, and stands for a summary."""
    context, summary = before.context, before.summary
    for entry in entries:
        match entry.payload:
            case ContextOffloaded(call_id=call_id, stub=stub):
                context = tuple(_with_stub(message, call_id, stub) for message in context)
            case ContextCompacted() as compacted:
                check_replaced(context, compacted)
                context, summary = tuple(m for m in context if not compacted.replaces(m.seq)), compacted.summary
            case _:
                pass
    assert [(m.seq, m.blocks) for m in after.context] == [(m.seq, m.blocks) for m in context]
    assert after.summary == summary


def check_replaced(context: tuple[Message, ...], compacted: ContextCompacted) -> None:
    """Nothing is torn apart, and the model still knows what it is to do."""
    gone = [message for message in context if compacted.replaces(message.seq)]
    left = [message for message in context if not compacted.replaces(message.seq)]
    assert gone, "a summary takes the place of nothing"
    assert compacted.summary.strip()
    assert not _calls(gone) & _results(left), "a result stands there without its call"
    assert not _calls(left) & _results(gone), "a call stands there without its result"
    tasks = [message for message in context if message.role == "user" and "input" not in message.metadata]
    assert not [task for task in tasks[-1:] if task in gone], "the newest task is gone"


def _with_stub(message: Message, call_id: str, stub: str) -> Message:
    def instead(block: Block) -> Block:
        meant = isinstance(block, ToolResult) and block.id == call_id
        return block.model_copy(update={"output": (Text(text=stub),)}) if meant else block

    return message.model_copy(update={"blocks": tuple(map(instead, message.blocks))})


def _calls(messages: Iterable[Message]) -> set[str]:
    return {call.id for message in messages for call in message.calls}


def _results(messages: Iterable[Message]) -> set[str]:
    return {result.id for message in messages for result in message.results}
