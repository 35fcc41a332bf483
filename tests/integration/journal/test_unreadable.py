"""What cannot be read is an error that says where, never an empty state, and nothing is written over it."""

import asyncio
import re
from collections.abc import Callable
from typing import ClassVar

import pytest

from tests.integration.journal.conftest import KEY, SESSION, Played, Sql
from turnwright.client.gateway.feeds import Feeds
from turnwright.journal import store_admin
from turnwright.journal.commands import FailModel, PauseSession, Steer
from turnwright.journal.driver import Driver
from turnwright.journal.entries import REGISTRY, Payload, TurnFailed, Unreadable
from turnwright.journal.errors import NewerReducer, StoreCorrupt, StoreUnavailable, UnknownEntryType
from turnwright.journal.messages import Text, user
from turnwright.journal.store import Journal
from turnwright.journal.store_verify import rebuild

THREAD = "thread_id = (SELECT id FROM threads WHERE thread = 'main')"
EVERYTHING = (
    "SELECT seq, hash, control, reducer_version, queued, active_turn, runnable FROM threads ORDER BY id",
    "SELECT control, reducer_version FROM sessions ORDER BY id",
    "SELECT thread_id, seq, type, version, hash FROM entries ORDER BY thread_id, seq",
    "SELECT thread_id, seq, body FROM payloads ORDER BY thread_id, seq",
    "SELECT turn_id, phase, body FROM turns ORDER BY turn_id",
    "SELECT thread_id, seq, body FROM checkpoints ORDER BY thread_id, seq",
    "SELECT count(*) FROM requests",
)


async def everything(sql: Sql) -> list[list[tuple[object, ...]]]:
    return [await sql(statement) for statement in EVERYTHING]


@pytest.fixture
async def answered(played: Played) -> str:
    """A thread with a turn that was answered."""
    turn = await played.submit("hello")
    epoch = await played.claim(turn)
    await played.ask(turn, epoch)
    await played.answer(turn, epoch, Text(text="hi"))
    return turn


def fresh(journal: Journal) -> Journal:
    """Another process: nothing is cached."""
    return Journal(journal.driver)


@pytest.mark.parametrize(
    ("what", "statement"),
    [
        ("no JSON", f"UPDATE payloads SET body = $1 WHERE {THREAD} AND seq = 2"),
        ("a missing entry", f"DELETE FROM entries WHERE {THREAD} AND seq = 2"),
        ("a missing payload", f"DELETE FROM payloads WHERE {THREAD} AND seq = 2"),
        ("a missing blob", f"UPDATE payloads SET body = NULL, blob = 'gone' WHERE {THREAD} AND seq = 2"),
    ],
)
async def test_a_state_with_a_broken_row_names_thread_and_seq_and_overwrites_nothing(
    journal: Journal, answered: str, sql: Sql, what: str, statement: str
) -> None:
    await sql(statement, *([b'{"half":'] if "$1" in statement else []))
    before = await everything(sql)
    for _ in range(2):
        with pytest.raises(StoreCorrupt) as caught:
            await fresh(journal).state(KEY)
        assert (caught.value.thread, caught.value.seq) == (KEY.canonical, 2), what
    with pytest.raises(StoreCorrupt):
        await fresh(journal).entries(KEY)
    assert await everything(sql) == before


async def test_a_row_that_is_repaired_is_read_again(journal: Journal, answered: str, sql: Sql) -> None:
    reader = fresh(journal)
    [(body,)] = await sql(f"SELECT body FROM payloads WHERE {THREAD} AND seq = 1")
    await sql(f"UPDATE payloads SET body = $1 WHERE {THREAD} AND seq = 1", b"\xff\x00")
    with pytest.raises(StoreCorrupt):
        await reader.state(KEY)
    await sql(f"UPDATE payloads SET body = $1 WHERE {THREAD} AND seq = 1", bytes(body))
    assert [message.text for message in (await reader.state(KEY)).context] == ["hello", "hi"]


async def test_a_broken_control_stops_every_command_and_is_not_overwritten(
    journal: Journal, answered: str, played: Played, sql: Sql
) -> None:
    await sql("UPDATE threads SET control = $1 WHERE thread = 'main'", b'{"seq": "many"}')
    before = await everything(sql)
    with pytest.raises(StoreCorrupt, match=r"cannot be read: seq: Input should be .* rebuild --session s`") as caught:
        await played.submit("again")
    assert not re.search("None|errors.pydantic|backup", str(caught.value)), caught.value
    with pytest.raises(StoreCorrupt):
        await journal.dispatch(KEY)
    with pytest.raises(StoreCorrupt):
        await journal.thread(KEY)
    assert await everything(sql) == before


async def test_a_row_of_a_turn_that_cannot_be_read_is_an_error_and_a_rebuild_mends_it(
    journal: Journal, answered: str, sql: Sql
) -> None:
    whole = await store_admin.see_turn(journal, KEY, answered)
    await sql("UPDATE turns SET body = $1", b"{}")
    with pytest.raises(StoreCorrupt, match=r"the stored TurnStatus cannot be read: turn_id: Field required .*rebuild`"):
        await store_admin.see_turn(journal, KEY, answered)
    assert [one async for one in rebuild(journal, KEY.session_key)]
    assert whole is not None
    again = await store_admin.see_turn(journal, KEY, answered)
    assert again is not None
    assert again.status == whole.status


async def test_a_control_at_another_entry_than_its_head_is_an_error(
    journal: Journal, answered: str, played: Played, sql: Sql
) -> None:
    await sql("UPDATE threads SET seq = seq - 1 WHERE thread = 'main'")
    with pytest.raises(StoreCorrupt, match="the control is at seq"):
        await played.submit("again")


async def test_a_broken_checkpoint_is_no_empty_state_and_can_be_deleted(
    journal: Journal, answered: str, sql: Sql
) -> None:
    await sql(f"UPDATE threads SET tail_bytes = {2**30} WHERE thread = 'main'")
    assert await journal.checkpoint(KEY, await journal.state(KEY))
    await sql("UPDATE checkpoints SET body = $1", b"{}}")
    with pytest.raises(StoreCorrupt, match="`turnwright journal rebuild --session s` writes it anew"):
        await fresh(journal).state(KEY)
    await sql("DELETE FROM checkpoints")
    assert await fresh(journal).state(KEY) == await journal.state(KEY)


async def test_a_connection_that_is_lost_while_a_state_is_loaded_is_an_error_and_the_next_load_is_whole(
    driver: Driver, journal: Journal, answered: str, sql: Sql
) -> None:
    whole, before = await fresh(journal).state(KEY), await everything(sql)
    points: list[str] = []
    driver.hook = points.append
    await fresh(journal).state(KEY)
    for failing in dict.fromkeys(points):
        reader = fresh(journal)
        driver.hook = _failing(failing)
        with pytest.raises(StoreUnavailable):
            await reader.state(KEY)
        driver.hook = None
        assert await reader.state(KEY) == whole
    assert await everything(sql) == before


def _failing(point: str) -> Callable[[str], None]:
    def hook(at: str) -> None:
        if at == point:
            raise StoreUnavailable("the connection was lost")

    return hook


async def test_what_a_newer_version_folded_is_not_written_by_this_one(
    journal: Journal, answered: str, played: Played, sql: Sql
) -> None:
    await sql("UPDATE threads SET reducer_version = 99 WHERE thread = 'main'")
    before = await everything(sql)
    with pytest.raises(NewerReducer, match="reducer version 99"):
        await played.submit("again")
    with pytest.raises(NewerReducer):
        await journal.execute(KEY, Steer(request_id="s", turn_id=answered, message=user("more")))
    assert await everything(sql) == before
    await sql("UPDATE sessions SET reducer_version = 99")
    with pytest.raises(NewerReducer):
        await journal.execute(SESSION, PauseSession(request_id="p"))


async def test_a_required_entry_of_an_unknown_type_stops_with_its_name_until_a_version_knows_it(
    journal: Journal, answered: str, sql: Sql, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = await fresh(journal).state(KEY)
    [(known,)] = await sql(f"SELECT type FROM entries WHERE {THREAD} AND seq = 2")
    await sql(f"UPDATE entries SET type = 'mood.changed' WHERE {THREAD} AND seq = 2")
    before, reader = await everything(sql), fresh(journal)
    with pytest.raises(UnknownEntryType, match=r"'mood\.changed' version 2 at thread .*, seq 2"):
        await reader.state(KEY)
    assert await everything(sql) == before
    monkeypatch.setitem(REGISTRY, "mood.changed", REGISTRY[known])
    assert await reader.state(KEY) == whole


async def test_an_optional_entry_of_an_unknown_type_is_kept_and_passed_over(
    journal: Journal, answered: str, sql: Sql
) -> None:
    [(body,)] = await sql(f"SELECT body FROM payloads WHERE {THREAD} AND seq = 3")
    await sql(f"UPDATE entries SET type = 'mood.noted', required = 0 WHERE {THREAD} AND seq = 3")
    third = (await journal.entries(KEY))[2]
    assert third.payload == Unreadable(type="mood.noted", version=1, raw=bytes(body).decode())
    assert (await fresh(journal).state(KEY)).as_of_seq > third.seq


async def test_rows_of_an_earlier_version_are_read_as_the_current_one_and_stay_as_they_are(
    journal: Journal, played: Played, sql: Sql
) -> None:
    turn = await played.submit("hello")
    epoch = await played.claim(turn)
    outcome = await played.ask(turn, epoch)
    await played.run(
        KEY,
        FailModel(turn_id=turn, epoch=epoch, step=1, ordinal=1, failure="auth", message="no key"),
    )
    [(seq,)] = await sql(f"SELECT seq FROM entries WHERE {THREAD} AND type = 'turn.failed'")
    assert seq > outcome.entries[-1].seq
    old = b'{"error":"model_error: no key","revision":3}'
    await sql(f"UPDATE entries SET version = 1 WHERE {THREAD} AND seq = $1", seq)
    await sql(f"UPDATE payloads SET body = $1 WHERE {THREAD} AND seq = $2", old, seq)
    [failed] = [entry.payload for entry in await journal.entries(KEY) if isinstance(entry.payload, TurnFailed)]
    assert (failed.code, failed.message, failed.revision) == ("model_error", "no key", 3)
    assert (await fresh(journal).state(KEY)).as_of_seq == seq
    assert await sql(f"SELECT body FROM payloads WHERE {THREAD} AND seq = $1", seq) == [(old,)]


class MoodNoted(Payload):
    """A fact of an application's own."""

    TYPE: ClassVar[str] = "app/mood"
    REQUIRED: ClassVar[bool] = False
    mood: str


async def test_an_applications_own_type_is_read_as_it_was_registered_and_moves_no_state(
    journal: Journal, answered: str, sql: Sql
) -> None:
    known = await fresh(journal).state(KEY)
    await sql(f"UPDATE entries SET type = 'app/mood', required = 0 WHERE {THREAD} AND seq = 3")
    await sql(f"UPDATE payloads SET body = $1 WHERE {THREAD} AND seq = 3", b'{"mood":"glad"}')
    assert (await journal.entries(KEY))[2].payload == MoodNoted(mood="glad")
    assert (await fresh(journal).state(KEY)).as_of_seq == known.as_of_seq


async def test_who_waits_for_news_of_a_session_that_cannot_be_read_is_told(
    journal: Journal, answered: str, sql: Sql
) -> None:
    await sql(f"UPDATE payloads SET body = $1 WHERE {THREAD} AND seq = 2", b"{")
    async with Feeds(fresh(journal)).open(SESSION, 0) as feed, asyncio.timeout(30):
        with pytest.raises(StoreCorrupt):
            await feed.news(0)
