"""What gives way when a conversation is too long: pairs stay whole, what must stay stays, and something is saved."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.unit.journal.world import check_pairs
from turnwright.journal.agent_state import AgentState
from turnwright.journal.agents import AgentDefinition, ContextPolicy, ToolSpec
from turnwright.journal.context.candidate import PINNED, candidate, faults, too_long, with_stubs
from turnwright.journal.context.stubs import READ_RESULT, STUB_CHARACTERS_MAX
from turnwright.journal.context.tokens import request_tokens, tokens_of
from turnwright.journal.entries import ContextCompacted, Entry, Payload
from turnwright.journal.evolve_state import fold_state
from turnwright.journal.messages import Block, Message, Text, ToolCall, ToolResult, Usage, user
from turnwright.journal.view import request_messages

POLICY = ContextPolicy(window_tokens=4_000, summary_tokens_max=100, result_characters_max=2_000)
words = st.integers(0, 9_000).map(lambda n: "word " * (n // 5))


@st.composite
def conversations(draw: st.DrawFn) -> tuple[Message, ...]:
    """Turns as they come: a task, steps whose calls have results (or lost one), an answer. Numbers are no order."""
    held: list[Message] = []
    numbers = iter(draw(st.randoms(use_true_random=False)).sample(range(1, 200), 199))
    for turn in range(draw(st.integers(1, 5))):
        held.append(_numbered(user(draw(words), **draw(st.sampled_from([{}, {PINNED: True}]))), next(numbers)))
        for step in range(draw(st.integers(0, 3))):
            ids = [f"{turn}-{step}-{n}" for n in range(draw(st.integers(1, 3)))]
            asked: tuple[Block, ...] = tuple(ToolCall(id=call, name="look") for call in ids)
            held.append(Message(role="assistant", seq=next(numbers), blocks=(Text(text=draw(words)), *asked)))
            answered = [call for call in draw(st.permutations(ids)) if draw(st.integers(0, 9))]
            held += [_result(call, draw(words), next(numbers)) for call in answered]
        usage = Usage(input_tokens=draw(st.sampled_from([0, 5_000])))
        held.append(Message(role="assistant", seq=next(numbers), blocks=(Text(text=draw(words)),), usage=usage))
    return tuple(held)


def _numbered(message: Message, seq: int) -> Message:
    return message.model_copy(update={"seq": seq, "id": str(seq)})


def _result(call: str, text: str, seq: int) -> Message:
    return Message(role="tool", seq=seq, blocks=(ToolResult(id=call, name="look", output=(Text(text=text),)),))


def state_of(context: tuple[Message, ...]) -> AgentState:
    return AgentState(agent=AgentDefinition(name="a", model="m", context=POLICY), context=context)


def committed(state: AgentState, *payloads: Payload) -> AgentState:
    return fold_state(state, [Entry(f"e{n}", payload, seq=1_000 + n) for n, payload in enumerate(payloads)])


def compacted(state: AgentState, summary: str = "what was said") -> AgentState:
    """The state after as many compactions as it takes, each of which must be faultless and save something."""
    while (found := candidate(state, POLICY)) is not None:
        context = with_stubs(state.context, found.offloads)
        entries: list[Payload] = list(found.offloads)
        if found.replaced:
            entry = found.compacted(summary)
            assert not [fault for fault in faults(context, entry) if "as long as" not in fault]
            if any(faults(context, entry)):
                break
            entries.append(entry)
        after = committed(state, *entries)
        assert tokens_of(after.context) < tokens_of(state.context)
        state = after
    return state


@given(conversations())
def test_after_a_compaction_every_call_still_has_its_result(context: tuple[Message, ...]) -> None:
    after = compacted(state_of(context))
    check_pairs(request_messages(after))
    left = {message.seq for message in after.context}
    results = {result.id: message.seq for message in context for result in message.results}
    for message in context:
        assert all((message.seq in left) == (results[call.id] in left) for call in message.calls if call.id in results)


@given(conversations())
def test_pinned_messages_and_the_task_of_the_newest_turn_stay(context: tuple[Message, ...]) -> None:
    after = compacted(state_of(context))
    stays = [m for m in context if m.metadata.get(PINNED)] + [m for m in context if m.role == "user"][-1:]
    assert all(message in after.context for message in stays)
    order = [message.seq for message in context]
    assert [order.index(message.seq) for message in after.context] == sorted(order.index(m.seq) for m in after.context)


@given(conversations())
def test_what_has_room_is_left_alone_and_a_result_gives_way_once(context: tuple[Message, ...]) -> None:
    after = compacted(state_of(context))
    room = 4_000 * POLICY.compact_to - POLICY.summary_tokens_max
    if tokens_of(context) <= room - request_tokens(state_of(())):
        assert after.context == context
    again = candidate(after, POLICY)
    assert again is None or not again.offloads


@given(conversations())
def test_what_a_provider_counted_is_forgotten_with_what_it_counted(context: tuple[Message, ...]) -> None:
    state = state_of(context)
    found = candidate(state, POLICY)
    if found is not None:
        after = committed(state, *found.offloads, *([found.compacted("short")] if found.replaced else []))
        assert request_tokens(after) == request_tokens(state_of(())) + tokens_of(after.context) + (
            2 if found.replaced else 0
        )


def conversation(*texts: str) -> tuple[Message, ...]:
    return tuple(_numbered(user(text), number) for number, text in enumerate(texts, start=1))


@pytest.mark.parametrize(
    ("entry", "fault"),
    [
        (ContextCompacted(from_seq=1, to_seq=2, summary="s"), "a call would be replaced, and its result would stay"),
        (ContextCompacted(from_seq=3, to_seq=3, summary="s"), "a result would be replaced, and its call would stay"),
        (ContextCompacted(from_seq=4, to_seq=4, summary="s"), "a message would be replaced that must stay"),
        (ContextCompacted(from_seq=1, to_seq=1, summary=" "), "the summary is empty"),
        (ContextCompacted(from_seq=1, to_seq=1, summary="s" * 999), "the summary is as long as what it replaces"),
        (ContextCompacted(from_seq=9, to_seq=9, summary="s"), "the summary is as long as what it replaces"),
    ],
)
def test_a_compaction_that_would_break_the_conversation_is_told_why(entry: ContextCompacted, fault: str) -> None:
    asked = Message(role="assistant", seq=2, blocks=(Text(text="I look. " * 9), ToolCall(id="c", name="look")))
    context = (*conversation("first " * 99), asked, _result("c", "seen " * 99, 3), _numbered(user("go on"), 4))
    assert fault in list(faults(context, entry))
    assert not list(faults(context, ContextCompacted(from_seq=1, to_seq=3, summary="looked")))


def test_a_conversation_is_too_long_by_what_the_provider_counted() -> None:
    context = (*conversation("hello"), Message(role="assistant", seq=2, blocks=(Text(text="hi"),)))
    assert not too_long(state_of(context), POLICY)
    counted = (*context[:1], context[1].model_copy(update={"usage": Usage(input_tokens=3_199, output_tokens=2)}))
    assert too_long(state_of(counted), POLICY)
    assert not too_long(state_of(counted), ContextPolicy())


def test_a_long_result_gives_way_to_less_than_it_may_take() -> None:
    context = (
        *conversation("look"),
        Message(role="assistant", seq=2, blocks=(ToolCall(id="c" * 40, name="look"),)),
        _result("c" * 40, "é" * 100_000, 3),
    )
    found = candidate(state_of(context), POLICY)
    assert found is not None
    assert not found.replaced
    (offload,) = found.offloads
    assert offload.result_seq == 3
    assert len(offload.stub) <= STUB_CHARACTERS_MAX


def test_a_queued_turn_that_ran_later_is_not_replaced_by_its_low_number() -> None:
    texts = ["first " * 999, "second " * 999, "third"]
    first, second, third = conversation(*texts)
    context = tuple(_numbered(message, seq) for message, seq in ((first, 1), (second, 9), (third, 5)))
    found = candidate(state_of(context), POLICY)
    assert found is not None
    after = committed(state_of(context), found.compacted("both"))
    assert [message.seq for message in after.context] == [5]


@pytest.mark.parametrize(("seq", "promised"), [(3, True), (-3, True), (0, False)])
def test_a_stub_says_how_to_read_its_result_back_where_an_entry_holds_it(seq: int, *, promised: bool) -> None:
    asked = Message(role="assistant", seq=2, blocks=(ToolCall(id="c", name="look"),))
    context = (_numbered(user("look"), 1), asked, _result("c", "word " * 5_000, seq))
    agent = AgentDefinition(name="a", model="m", context=POLICY, tools=(ToolSpec(name=READ_RESULT),))
    found = candidate(AgentState(agent=agent, context=context), POLICY)
    assert found is not None
    (offload,) = found.offloads
    assert (READ_RESULT in offload.stub) is promised
