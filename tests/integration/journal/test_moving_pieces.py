"""However long a thread is, no transaction of its import grows with it; and wherever that is cut off, it goes on."""

import random
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeVar

import pytest

from tests.integration.journal.asking import asking
from tests.integration.journal.conftest import KEY, SESSION, Played
from tests.integration.journal.forking import fork, fresh, rewind, said
from tests.integration.journal.moving import SIDE, facts, proven, take, written
from turnwright.journal import store_import
from turnwright.journal.commands import DeleteSession, EraseEntry
from turnwright.journal.script import Batch, Script
from turnwright.journal.store import Journal
from turnwright.journal.store_admin import list_sessions
from turnwright.journal.store_delete import delete_session
from turnwright.journal.store_import import Target
from turnwright.journal.transact import deleting, indexing, settling

T = TypeVar("T")
LONG, SHORT = 16, 6


@pytest.fixture(autouse=True)
def _small_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    """So that sessions of a test need many."""
    monkeypatch.setattr(store_import, "PIECE_LINES_MAX", 4)
    for module in (settling, indexing):
        monkeypatch.setattr(module, "ENTRIES_INDEXED_MAX", 4)
    for module in (settling, deleting):
        monkeypatch.setattr(module, "ROWS_ERASED_MAX", 4)
    monkeypatch.setattr(settling, "ROWS_WRITTEN_MAX", 4)


class Measured:
    """A store that counts what each of its writing transactions asks for, and gets: statements and rows."""

    def __init__(self, journal: Journal) -> None:
        self._driver = journal.driver
        self.counts: list[int] = []

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401 - all else is the store's
        return getattr(self._driver, name)

    async def write(self, script: Callable[[], Script[T]]) -> T:
        """As the store does."""
        return await self._driver.write(lambda: self._counted(script()))

    def _counted(self, script: Script[T]) -> Script[T]:
        count, answer = 0, None
        try:
            while True:
                command = script.send(answer)
                answer = yield command
                count += len(command.rows) if isinstance(command, Batch) else 1
                count += len(answer) if isinstance(answer, list) else 0
        except StopIteration as end:
            self.counts.append(count)
            result: T = end.value
            return result


async def live_on(played: Played, turns: range) -> None:
    """A thread gets so many more of what it can have many of: entries, turns, words, rewinds, requests."""
    for n in turns:
        last = await said(played, f"turn {n}", answer=f"word{n}")
        await rewind(played, last - 1)


async def test_no_transaction_of_an_import_grows_with_the_thread(
    played: Played, target: Played, tmp_path: Path
) -> None:
    most = []
    for turns in (range(SHORT), range(SHORT, LONG)):
        await live_on(played, turns)
        path = await written(played, tmp_path / "s.jsonl")
        measured, copy = Measured(target.journal), f"with {turns.stop} turns"
        await take(Played(Journal(measured)), path, Target("t", session=copy))
        most.append(max(measured.counts))
        assert await proven(target.journal) == []
        gone = await delete_session(target.journal, replace(SESSION, session=copy), DeleteSession(request_id="delete"))
        assert gone.receipt.status == "accepted"
    assert most[0] == most[1]


class Cut(Exception):
    """Stands for a crash."""


class Cutting:
    """Ends an import at a commit, before or after it."""

    def __init__(self, left: int) -> None:
        self.left = left

    def __call__(self, point: str) -> None:
        self.left -= point in ("commit", "committed")
        if not self.left:
            raise Cut


@pytest.mark.parametrize("seed", range(2))
async def test_an_import_in_many_pieces_is_all_or_nothing_wherever_it_is_cut_off(
    played: Played, target: Played, tmp_path: Path, seed: int
) -> None:
    dice = random.Random(seed)
    await live_on(played, range(SHORT))
    keys = [KEY, await fork(played, 3, "early"), await fork(played, None, "late"), SIDE]
    await asking(played, "asked", SIDE)
    if dice.random() < 0.5:
        await played.execute(KEY, EraseEntry(request_id="erase", seq=1))
    path = await written(played, tmp_path / "s.jsonl")
    before, driver, cuts = await facts(played.journal, SESSION), target.journal.driver, 0
    done = None
    while done is None:
        driver.hook = Cutting(dice.randrange(1, 40 * (cuts + 1)))  # each begins what follows from entries anew
        try:
            done = await take(target, path)
        except Cut:
            cuts += 1
            driver.hook = None
            listed = (await list_sessions(target.journal, "t")).items
            seen = await facts(target.journal, SESSION)
            assert (seen[: len(before)] == before) if listed else seen == []
    driver.hook = None
    assert cuts
    assert (await facts(target.journal, SESSION))[: len(before)] == before
    assert (await take(target, path)).duplicate
    assert done.key == SESSION
    assert await proven(target.journal) == []
    for key in keys:
        assert await fresh(target.journal, key) == await fresh(played.journal, key)
