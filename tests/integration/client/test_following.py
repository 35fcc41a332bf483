"""Whoever follows a turn that stands still is told why."""

import asyncio
from functools import partial

import pytest

from tests.integration.client.hands import AGENT, Hands
from tests.integration.worker.conftest import run_sql
from turnwright.client import Session, Turn, TurnCancelled
from turnwright.client.cli import watching
from turnwright.client.cli.screen import Screen
from turnwright.journal.driver import Driver
from turnwright.journal.errors import JournalError
from turnwright.journal.store import Journal
from turnwright.journal.transact.serving import begin_serving
from turnwright.journal.why import Why


class Overheard(Screen):
    """A screen whose notes can be waited for."""

    def __init__(self) -> None:
        super().__init__(as_json=False)
        self.notes: list[str] = []
        self.noted = asyncio.Event()

    def note(self, text: str) -> None:
        self.notes.append(text)
        self.noted.set()

    async def hear(self, words: str) -> str:
        """The first note with these words."""
        while not (found := [note for note in self.notes if words in note]):
            self.noted.clear()
            await self.noted.wait()
        return found[0]


@pytest.fixture
def screen(monkeypatch: pytest.MonkeyPatch) -> Overheard:
    monkeypatch.setattr(watching, "LOOK_INTERVAL_S", 0.01)
    return Overheard()


async def test_a_follower_is_told_that_no_worker_is_there_and_what_it_waits_for_next(
    session: Session, screen: Overheard, driver: Driver
) -> None:
    turn = await session.submit("one", agent=AGENT)
    following = asyncio.create_task(watching.follow(turn, screen, None))
    told = await screen.hear("No worker is alive to start it; start one with `turnwright worker`.")
    assert "The turn is saved" in told
    stranger = await driver.hold_presence("w-stranger", {"agents": ["other"]}, lease_s=60)
    await screen.hear("Workers live, but none can start it: they wait for Temporal")
    await driver.write(partial(begin_serving, stranger.name, "cluster/namespace", await Journal(driver).journal_id()))
    await screen.hear("No live worker knows the agent echo")
    await stranger.release()
    await turn.pause(reason="lunch")
    await screen.hear(f"because: lunch (`turnwright turn resume {turn.id}`)")
    await turn.cancel()
    with pytest.raises(TurnCancelled):
        await following
    assert sum("No worker is alive" in note for note in screen.notes) <= 2  # once, and again after the stranger


async def test_a_follower_of_a_turn_that_is_served_hears_its_entries_only(
    session: Session, screen: Overheard, hands: Hands
) -> None:
    turn = await session.submit("one", agent=AGENT)
    following = asyncio.create_task(watching.follow(turn, screen, None))
    await hands.finish(turn)
    await following
    assert not [note for note in screen.notes if "The turn is saved" in note]


async def test_a_follower_is_told_what_is_waited_for_once_an_error_has_passed(
    session: Session, screen: Overheard, journal_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    failed, look = asyncio.Event(), Turn.why

    async def why(turn: Turn) -> Why:
        try:
            return await look(turn)
        except JournalError:
            failed.set()
            raise

    monkeypatch.setattr(Turn, "why", why)
    turn = await session.submit("one", agent=AGENT)
    await run_sql(journal_url, "UPDATE sessions SET reducer_version = reducer_version + 1")
    following = asyncio.create_task(watching.follow(turn, screen, None))
    await failed.wait()
    await run_sql(journal_url, "UPDATE sessions SET reducer_version = reducer_version - 1")
    await screen.hear("No worker is alive to start it")
    following.cancel()
    await asyncio.gather(following, return_exceptions=True)
