"""Content that was erased stands nowhere in the files of a SQLite journal, whoever opens them with what."""

import sqlite3
from pathlib import Path

import pytest
from structlog.testing import capture_logs

from tests.integration.journal.conftest import KEY, SESSION, Played
from turnwright.journal.commands import CancelSession, CreateSession, DeleteSession, EraseEntry, Submit
from turnwright.journal.ids import turn_id
from turnwright.journal.messages import Text, user
from turnwright.journal.store_delete import delete_session

WORD = "zebra"
TEXTS = pytest.mark.parametrize("text", [WORD, f"{WORD} " * 60_000], ids=["small", "large"])


@pytest.fixture
def journal_url(sqlite_url: str) -> str:
    return sqlite_url


def files_with(folder: Path, word: str) -> list[str]:
    files = (file for file in sorted(folder.glob("journal.db*")) if file.is_file())
    return [file.name for file in files if word.encode() in file.read_bytes()]


async def read_and_kept(played: Played, text: str) -> None:
    """A task that a model was told and a checkpoint keeps, which was made anew since."""
    turn = turn_id(KEY, "task")
    await played.journal.execute(SESSION, CreateSession(request_id="create"))
    await played.execute(KEY, Submit(request_id="task", turn_id=turn, input=user(text)))
    epoch = await played.claim(turn)
    await played.ask(turn, epoch)
    await played.journal.checkpoint(KEY, await played.journal.state(KEY))
    await played.answer(turn, epoch, Text(text="done"))
    await played.journal.checkpoint(KEY, await played.journal.state(KEY))


@TEXTS
async def test_an_erased_entry_is_gone_from_the_files(played: Played, tmp_path: Path, text: str) -> None:
    await read_and_kept(played, text)
    assert files_with(tmp_path, WORD)
    await played.execute(KEY, EraseEntry(request_id="erase", seq=1))
    assert files_with(tmp_path, WORD) == []


@TEXTS
async def test_a_deleted_session_is_gone_from_the_files(played: Played, tmp_path: Path, text: str) -> None:
    await read_and_kept(played, text)
    await played.execute(SESSION, CancelSession(request_id="cancel"))
    deleted = await delete_session(played.journal, SESSION, DeleteSession(request_id="delete"))
    assert deleted.receipt.status == "accepted"
    assert files_with(tmp_path, WORD) == []


async def test_who_reads_on_an_old_snapshot_holds_no_erasing_up_and_is_told_of(played: Played, tmp_path: Path) -> None:
    await read_and_kept(played, WORD)
    reading = sqlite3.connect(tmp_path / "journal.db", isolation_level=None)
    reading.execute("BEGIN")
    reading.execute("SELECT count(*) FROM entries").fetchone()
    with capture_logs() as logs:
        await played.execute(KEY, EraseEntry(request_id="erase", seq=1))
    told = [line["why"] for line in logs if line["event"] == "erased_content_in_log"]
    assert told == ["somebody reads on an old snapshot"]
    reading.close()
    await played.execute(KEY, EraseEntry(request_id="again", seq=1))
    assert files_with(tmp_path, WORD) == []
