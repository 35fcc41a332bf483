"""What gives way when a conversation is too long: a candidate, made by one pure function and judged by another.

Rule: a candidate that would split a call from its result, take what must stay, or save nothing is never committed; a
conversation without one goes on as it is. Messages are named by their entries, whose numbers do not say where in the
conversation they stand: a turn may have been queued long before it ran.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from turnwright.journal.agent_state import AgentState
from turnwright.journal.agents import ContextPolicy
from turnwright.journal.context.stubs import READ_RESULT, STUB_CHARACTERS_MAX, stub_of, text_of
from turnwright.journal.context.tokens import fixed_tokens, message_tokens, request_tokens, text_tokens, tokens_of
from turnwright.journal.entries import ContextCompacted, ContextOffloaded, Entry, Payload
from turnwright.journal.evolve_state import fold_state
from turnwright.journal.messages import NO_ENTRY, Block, Message, Text, ToolResult

# How much longer, as a part of the window, a request must be until a summary is tried again that failed; twice as
# much after each failure.
LONGER_BEFORE_RETRY = 0.02
DOUBLINGS_MAX = 10
PINNED = "pinned"  # the metadata of a message that stays, whatever becomes of those around it


@dataclass(frozen=True, slots=True)
class Candidate:
    """What could give way: results to stubs, and `replaced`, in their order, to a summary."""

    offloads: tuple[ContextOffloaded, ...]
    replaced: tuple[Message, ...]
    kept: tuple[int, ...]

    def compacted(self, summary: str) -> ContextCompacted:
        """The entry that replaces them by that summary."""
        seqs = [message.seq for message in self.replaced]
        return ContextCompacted(from_seq=min(seqs), to_seq=max(seqs), kept=self.kept, summary=summary)


def too_long(state: AgentState, policy: ContextPolicy, recalled: str = "") -> bool:
    """Whether the next request is over the part of the window from which on something gives way."""
    window = policy.window_tokens
    return window is not None and request_tokens(state, recalled) > window * policy.compact_above


def held_back(state: AgentState, policy: ContextPolicy) -> bool:
    """Whether summaries failed of late, so that the next one waits until the request is longer.

    Else every step over the threshold would ask, and pay, for one again.
    """
    failed = state.compaction
    if not failed.failures or policy.window_tokens is None:
        return False
    longer = policy.window_tokens * LONGER_BEFORE_RETRY * 2.0 ** min(failed.failures - 1, DOUBLINGS_MAX)
    return request_tokens(state) < failed.failed_tokens + longer


def candidate(
    state: AgentState, policy: ContextPolicy, recalled: str = "", *, summarise: bool = True
) -> Candidate | None:
    """What could give way, so that about `compact_to` of the window is left; None: nothing can.

    Without `summarise`, only long results do.
    """
    fixed = fixed_tokens(state, recalled) + policy.summary_tokens_max
    room = int((policy.window_tokens or 0) * policy.compact_to) - fixed
    readable = state.agent is not None and state.agent.tool(READ_RESULT) is not None
    offloads = tuple(_offloads(state.context, policy, room, readable=readable))
    context = with_stubs(state.context, offloads)
    replaced = _replaced(context, room) if summarise and tokens_of(context) > room else ()
    if not offloads and not replaced:
        return None
    seqs = {message.seq for message in replaced}
    between = range(min(seqs, default=0), max(seqs, default=0))
    kept = {message.seq for message in context if message.seq in between} - seqs
    return Candidate(offloads, replaced, tuple(sorted(kept)))


def after(state: AgentState, offloads: tuple[ContextOffloaded, ...], compacted: ContextCompacted | None) -> AgentState:
    """The state as it would be with these entries."""
    payloads: tuple[Payload, ...] = offloads if compacted is None else (*offloads, compacted)
    return fold_state(state, (Entry("", payload, seq=state.as_of_seq) for payload in payloads))


def with_stubs(context: tuple[Message, ...], offloads: Iterable[ContextOffloaded]) -> tuple[Message, ...]:
    """The context as it is when those results have given way."""
    stubs = {offload.call_id: offload.stub for offload in offloads}
    return tuple(_with_stubs(message, stubs) for message in context)


def faults(context: tuple[Message, ...], compacted: ContextCompacted) -> Iterator[str]:
    """What speaks against committing it; nothing: it may be committed."""
    gone = tuple(message for message in context if compacted.replaces(message.seq))
    left = tuple(message for message in context if not compacted.replaces(message.seq))
    if _calls(gone) & _results(left):
        yield "a call would be replaced, and its result would stay"
    if _calls(left) & _results(gone):
        yield "a result would be replaced, and its call would stay"
    if not {message.seq for message in gone}.isdisjoint(_must_stay(context)):
        yield "a message would be replaced that must stay"
    if not compacted.summary.strip():
        yield "the summary is empty"
    if text_tokens(compacted.summary) >= tokens_of(gone):
        yield "the summary is as long as what it replaces"


def _offloads(
    context: tuple[Message, ...], policy: ContextPolicy, room: int, *, readable: bool
) -> Iterator[ContextOffloaded]:
    """Long results, oldest first, until what is left has room."""
    over = tokens_of(context) - room
    longer = max(policy.result_characters_max, STUB_CHARACTERS_MAX)
    for message in context:
        for result in message.results:
            if over <= 0:
                return
            if len(text_of(result)) > longer:
                stub = stub_of(result, readable=readable and message.seq != NO_ENTRY)
                offload = ContextOffloaded(call_id=result.id, result_seq=message.seq, stub=stub)
                over -= message_tokens(message) - message_tokens(_with_stubs(message, {result.id: offload.stub}))
                yield offload


def _replaced(context: tuple[Message, ...], room: int) -> tuple[Message, ...]:
    """The shortest beginning of the conversation without which there is room, or the longest that may go."""
    stays = _staying(context)
    left = tokens_of(context)
    end = 0
    for end_so_far in _ends(context):
        gone = [message for message in context[end:end_so_far] if message.seq not in stays]
        left -= tokens_of(gone)
        end = end_so_far
        if left <= room:
            break
    return tuple(message for message in context[:end] if message.seq not in stays)


def _ends(context: tuple[Message, ...]) -> Iterator[int]:
    """Where a beginning of the conversation may end: no call, result or entry has a part on either side."""
    last = {tie: place for place, message in enumerate(context) for tie in _ties(message)}
    reach = 0
    for end, message in enumerate(context[:-1], start=1):
        reach = max(reach, *(last[tie] for tie in _ties(message)))
        if reach < end:
            yield end


def _staying(context: tuple[Message, ...]) -> frozenset[int]:
    """The entries of messages that stay: those that must, and whatever is tied to them."""
    must = _must_stay(context)
    ties = {tie for message in context if message.seq in must for tie in _ties(message)}
    known = 0
    while known != len(ties):
        known = len(ties)
        ties |= {tie for message in context if not ties.isdisjoint(_ties(message)) for tie in _ties(message)}
    return frozenset(message.seq for message in context if message.seq in ties)


def _must_stay(context: tuple[Message, ...]) -> frozenset[int]:
    """The entries of pinned messages, and of what the newest turn was asked to do."""
    tasks = [message.seq for message in context if message.role == "user" and "input" not in message.metadata]
    return frozenset({*tasks[-1:], *(message.seq for message in context if message.metadata.get(PINNED))})


def _ties(message: Message) -> frozenset[int | str]:
    """What holds messages together: their entry, their calls and results."""
    return frozenset({message.seq, *_calls((message,)), *_results((message,))})


def _calls(messages: tuple[Message, ...]) -> set[str]:
    return {call.id for message in messages for call in message.calls}


def _results(messages: tuple[Message, ...]) -> set[str]:
    return {result.id for message in messages for result in message.results}


def _with_stubs(message: Message, stubs: dict[str, str]) -> Message:
    if not any(result.id in stubs for result in message.results):
        return message
    return message.model_copy(update={"blocks": tuple(_with_stub(block, stubs) for block in message.blocks)})


def _with_stub(block: Block, stubs: dict[str, str]) -> Block:
    if not isinstance(block, ToolResult) or block.id not in stubs:
        return block
    return block.model_copy(update={"output": (Text(text=stubs[block.id]),)})
