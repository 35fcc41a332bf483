"""Two processes write at once, one of them stopped between any two of its statements: it is as if one came first.

What each is told, and what stands in the journal in the end, must be what one of the two orders gives.
"""

import asyncio
import itertools
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass, replace
from typing import TypeAlias

import pytest

from tests.integration.journal.conftest import AGENT, KEY, WORKER, Played
from turnwright.journal.budgets import Budget
from turnwright.journal.commands import (
    CancelSession,
    CancelTurn,
    ClaimRun,
    ClientCommand,
    CloseSession,
    CreateSession,
    DeleteSession,
    PauseSession,
    PauseThread,
    PauseTurn,
    Receipt,
    RequestModel,
    RespondModel,
    RunCommand,
    SetSessionBudget,
    Steer,
    Submit,
)
from turnwright.journal.driver import Driver
from turnwright.journal.ids import SessionKey, ThreadKey, turn_id
from turnwright.journal.messages import Text, Usage, user
from turnwright.journal.store import Journal
from turnwright.journal.store_verify import verify
from turnwright.journal.transact.thread_script import Terms

Command: TypeAlias = ClientCommand | RunCommand
Prepare: TypeAlias = Callable[[Played, ThreadKey], Awaitable[None]]
Seen: TypeAlias = tuple[tuple[str, ...], tuple[str, ...], tuple[str, ...]]
BLOCKED_S = 0.02
_numbers = itertools.count(1)


@dataclass(frozen=True)
class Race:
    """Two commands that meet: where they find the thread, and what each of them is."""

    prepare: Prepare
    one: Callable[[ThreadKey], Command]
    other: Callable[[ThreadKey], Command]


async def nothing(played: Played, key: ThreadKey) -> None:
    del played, key


async def session(played: Played, key: ThreadKey) -> None:
    await played.execute(key.session_key, CreateSession(request_id="create"))


async def queued(played: Played, key: ThreadKey) -> None:
    await played.submit("first", key)


async def asked(played: Played, key: ThreadKey) -> None:
    turn = await played.submit("first", key)
    await played.ask(turn, await played.claim(turn, key), key)


async def claimed(played: Played, key: ThreadKey) -> None:
    await played.claim(await played.submit("first", key), key)


def no_tokens() -> SetSessionBudget:
    return SetSessionBudget(request_id="b", budget=Budget(tokens=0))


def ask(key: ThreadKey) -> Command:
    return RequestModel(turn_id=first(key), epoch=1, step=1, nonce="n", presence=WORKER)


def first(key: ThreadKey) -> str:
    return turn_id(key, "first")


def submit(request: str, if_busy: str = "enqueue") -> Callable[[ThreadKey], Command]:
    return lambda key: Submit(
        request_id=request,
        turn_id=turn_id(key, request),
        input=user(request),
        if_busy=if_busy,  # type: ignore[arg-type]
    )


def answer(text: str = "the end") -> Callable[[ThreadKey], Command]:
    usage, blocks = Usage(requests=1), (Text(text=text),)
    return lambda key: RespondModel(turn_id=first(key), epoch=1, step=1, ordinal=1, blocks=blocks, usage=usage)


def claim(run: str) -> Callable[[ThreadKey], Command]:
    return lambda key: ClaimRun(turn_id=first(key), run=run, start_epoch=0, definition=AGENT)


RACES: dict[str, Race] = {
    "two sessions of one name": Race(
        nothing, lambda _: CreateSession(request_id="a"), lambda _: CreateSession(request_id="b")
    ),
    "the first two turns of a thread": Race(session, submit("a"), submit("b")),
    "two turns that will not wait": Race(session, submit("a", "reject"), submit("b", "reject")),
    "one request twice": Race(session, submit("a"), submit("a")),
    "two interrupts": Race(asked, submit("a", "interrupt"), submit("b", "interrupt")),
    "two runs": Race(queued, claim("run-a"), claim("run-b")),
    "a run and a cancel": Race(queued, claim("run-a"), lambda key: CancelTurn(request_id="c", turn_id=first(key))),
    "the end and a cancel": Race(asked, answer(), lambda key: CancelTurn(request_id="c", turn_id=first(key))),
    "the end and a pause": Race(asked, answer(), lambda key: PauseTurn(request_id="p", turn_id=first(key))),
    "the end and a steer": Race(
        asked, answer(), lambda key: Steer(request_id="s", turn_id=first(key), message=user("more"))
    ),
    "the end and the next turn": Race(asked, answer(), submit("b", "reject")),
    "the end twice": Race(asked, answer(), answer("another end")),
    "a turn and its session's cancel": Race(session, submit("a"), lambda _: CancelSession(request_id="c")),
    "a turn and its session's pause": Race(queued, claim("run-a"), lambda _: PauseSession(request_id="p")),
    "a turn and its session's end": Race(session, submit("a"), lambda _: CloseSession(request_id="c")),
    "a turn and its session's deletion": Race(session, submit("a"), lambda _: DeleteSession(request_id="d")),
    "two deletions": Race(
        session, lambda _: DeleteSession(request_id="d"), lambda _: DeleteSession(request_id="d", principal="other")
    ),
    "a session and its deletion": Race(
        nothing, lambda _: CreateSession(request_id="c"), lambda _: DeleteSession(request_id="d")
    ),
    "the end and its session's deletion": Race(asked, answer(), lambda _: DeleteSession(request_id="d")),
    "a start and its session's budget": Race(queued, claim("run-a"), lambda _: no_tokens()),
    "a step and its session's budget": Race(claimed, ask, lambda _: no_tokens()),
    "a turn and its thread's pause": Race(queued, claim("run-a"), lambda _: PauseThread(request_id="p")),
}
OF_THE_SESSION = (CreateSession, CancelSession, PauseSession, CloseSession, DeleteSession, SetSessionBudget)


@pytest.fixture
async def elsewhere(journal: Journal, driver: Driver, journal_url: str) -> AsyncIterator[Journal]:
    """The same journal from another process, as far as the store can tell."""
    del driver
    other = await Journal.open(journal_url, terms=Terms(presence=WORKER))
    try:
        yield other
    finally:
        await other.close()


@pytest.mark.parametrize("name", RACES)
async def test_whoever_is_stopped_wherever_it_is_as_if_one_had_come_first(
    journal: Journal, elsewhere: Journal, name: str
) -> None:
    race = RACES[name]
    swapped = replace(race, one=race.other, other=race.one)
    orders = [await in_order(journal, race), flipped(await in_order(journal, swapped))]
    for stopped, meant in ((race, orders), (swapped, [flipped(seen) for seen in orders])):
        at = 0
        while (seen := await stopped_at(journal, elsewhere, stopped, at)) is not None:
            assert seen in meant, f"stopped before its statement {at}"
            at += 1
        assert at > 2, "it was stopped at its beginning, its commit, and in between"
    findings = [finding async for proof in verify(journal) for finding in proof.findings]
    assert findings == []


async def in_order(journal: Journal, race: Race) -> Seen:
    """What is seen when one comes before the other."""
    key = await prepared(journal, race)
    told = [await tell(journal, key, race.one(key)), await tell(journal, key, race.other(key))]
    return await look(journal, key, told)


async def stopped_at(journal: Journal, elsewhere: Journal, race: Race, at: int) -> Seen | None:
    """What is seen when the first is stopped before its statement `at`; None if it has not so many."""
    key, points = await prepared(journal, race), itertools.count()
    reached, gate = asyncio.Event(), asyncio.Event()

    async def hook(_: str) -> None:
        if next(points) == at:
            reached.set()
            await gate.wait()

    journal.driver.hook = hook
    one = asyncio.create_task(tell(journal, key, race.one(key)))
    stopping = asyncio.create_task(reached.wait())
    await asyncio.wait({one, stopping}, return_when=asyncio.FIRST_COMPLETED)
    other = asyncio.create_task(tell(elsewhere, key, race.other(key)))
    await asyncio.wait({other}, timeout=BLOCKED_S)  # it is done, or waits for the one that was stopped
    gate.set()
    told = [await one, await other]
    stopping.cancel()
    journal.driver.hook = None
    return await look(journal, key, told) if reached.is_set() else None


async def prepared(journal: Journal, race: Race) -> ThreadKey:
    key = ThreadKey(KEY.tenant, None, KEY.agent, f"session {next(_numbers)}")
    await race.prepare(Played(journal), key)
    return key


async def tell(journal: Journal, key: ThreadKey, command: Command) -> str:
    """Give the command; what is answered, in a word."""
    if isinstance(command, RunCommand):
        outcome = await journal.run(key, command)
        return "accepted" if outcome.rejection is None else outcome.rejection.code
    target: ThreadKey | SessionKey = key.session_key if isinstance(command, OF_THE_SESSION) else key
    receipt: Receipt = await journal.execute(target, command)
    return "duplicate" if receipt.duplicate else receipt.code or receipt.status


async def look(journal: Journal, key: ThreadKey, told: list[str]) -> Seen:
    """What each was told, and the entries of the thread and of the session, once all that is due has happened."""
    await journal.dispatch(key)
    told_each = tuple(told)
    return told_each, await types(journal, key), await types(journal, key.session_key.log)


async def types(journal: Journal, key: ThreadKey) -> tuple[str, ...]:
    return tuple(entry.type for entry in await journal.entries(key))


def flipped(seen: Seen) -> Seen:
    """The same, with the two named the other way round."""
    (one, other), thread, log = seen
    return (other, one), thread, log
