"""A turn is followed live: its entries, and between them what the model says while it speaks."""

import asyncio
from collections.abc import AsyncIterator, Sequence

import pytest

from tests.integration.client.hands import AGENT, Hands
from turnwright.client import Client, Delta, NotFound, Session, Turn
from turnwright.client.listening import Listener
from turnwright.journal.driver import Driver
from turnwright.journal.entries import Entry
from turnwright.journal.messages import Text, Thinking


class Mouth:
    """What a worker's model says, straight to the journal."""

    def __init__(self, hands: Hands, turn: Turn, step: int = 1, ordinal: int = 1) -> None:
        self._hands, self._turn, self._step, self._ordinal = hands, turn, step, ordinal
        self._n = 1

    async def say(self, text: str, *, index: int = 0, thinking: bool = False) -> None:
        row = await self._hands.journal.thread(self._turn.key)
        assert row is not None
        delta = Delta(
            turn_id=self._turn.id,
            step=self._step,
            ordinal=self._ordinal,
            index=index,
            kind="thinking" if thinking else "text",
            text=text,
        )
        await self._hands.journal.deltas.add(self._turn.key, row.id, self._n, [delta])
        self._n += 1


async def until_said(items: AsyncIterator[Entry | Delta], text: str) -> list[Entry | Delta]:
    """What comes up to that text."""
    found: list[Entry | Delta] = []
    async for item in items:
        found.append(item)
        if text_of(found) == text:
            break
    return found


def text_of(items: Sequence[Entry | Delta]) -> str:
    return "".join(item.text for item in items if isinstance(item, Delta))


def types_of(items: Sequence[Entry | Delta]) -> list[str]:
    return [item.type for item in items if isinstance(item, Entry)]


async def test_words_come_as_they_are_said_and_then_the_entry_that_holds_them(session: Session, hands: Hands) -> None:
    turn = await session.submit("x", agent=AGENT)
    items = turn.live()
    await hands.ask_model(turn)
    mouth = Mouth(hands, turn)
    await mouth.say("Let me see.", thinking=True)
    await mouth.say("It is ", index=1)
    begun = await until_said(items, "Let me see.It is ")
    assert types_of(begun)[-1] == "model.requested"
    await mouth.say("so.", index=1)
    (last,) = await until_said(items, "so.")
    assert last == Delta(turn_id=turn.id, step=1, ordinal=1, index=1, kind="text", text="so.")
    await hands.answer(turn, Thinking(text="Let me see."), Text(text="It is so."))
    rest = [item async for item in items]
    assert text_of(rest) == ""
    assert types_of(rest)[0] == "model.responded"
    assert types_of(begun) + types_of(rest) == [entry.type async for entry in turn.events()]


async def test_who_comes_in_the_middle_hears_all_that_was_said_as_the_first_words(
    session: Session, hands: Hands
) -> None:
    turn = await session.submit("x", agent=AGENT)
    await hands.ask_model(turn)
    mouth = Mouth(hands, turn)
    for word in ("one ", "two ", "three"):
        await mouth.say(word)
    found = await until_said(turn.live(), "one two three")
    assert [item.text for item in found if isinstance(item, Delta)] == ["one two three"]


async def test_a_new_attempt_begins_anew_and_words_behind_the_end_of_one_are_not_heard(
    session: Session, hands: Hands
) -> None:
    turn = await session.submit("x", agent=AGENT)
    await hands.ask_model(turn)
    listener = Listener(turn._access.backend, turn.key, turn.id)
    straggler = Mouth(hands, turn)
    await straggler.say("Once")
    assert text_of(await listener.heard()) == "Once"
    await hands.fail_model(turn, "cut")
    listener.passed((await session.thread(AGENT).history())[-1])
    await straggler.say(" upon")
    assert await listener.heard() == []
    await Mouth(hands, turn, ordinal=2).say("Anew")
    assert [(delta.ordinal, delta.text) for delta in await listener.heard()] == [(2, "Anew")]


async def test_words_of_another_turn_of_the_thread_are_not_heard(session: Session, hands: Hands) -> None:
    first, second = [await session.submit(name, agent=AGENT) for name in ("x", "y")]
    await hands.ask_model(first)
    await Mouth(hands, first).say("not for you")
    following = asyncio.create_task(until_said(second.live(), "for you"))
    while not await hands.journal.deltas.listened({second.key}):
        await asyncio.sleep(0.01)
    await hands.answer(first, "not for you")
    await hands.ask_model(second)
    await Mouth(hands, second).say("for you")
    assert {item.turn_id for item in await following} == {second.id}


async def test_words_that_nobody_wants_are_not_followed(session: Session, hands: Hands, driver: Driver) -> None:
    turn = await session.submit("x", agent=AGENT)
    following = asyncio.create_task(_types(turn))
    await hands.ask_model(turn)
    await Mouth(hands, turn).say("word")
    assert await hands.journal.deltas.listened({turn.key}) == frozenset()
    await hands.answer(turn, "word")
    assert (await following)[-1] == "turn.completed"


async def _types(turn: Turn) -> list[str]:
    return [entry.type async for entry in turn.events()]


async def test_a_turn_that_is_not_there_cannot_be_followed(client: Client, session: Session) -> None:
    with pytest.raises(NotFound):
        await anext(session.thread(AGENT).turn("t-none").live())
