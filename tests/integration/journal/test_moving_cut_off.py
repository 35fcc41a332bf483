"""What is cut off, killed or changed on its way is never seen, and is done again."""

import asyncio
import hashlib
import json
import signal
import sys
from functools import partial
from pathlib import Path

import pytest

from tests.integration.journal.conftest import KEY, SESSION, Played, Sql
from tests.integration.journal.moving import PLAIN, facts, lived_in, plain, proven, take, written
from turnwright.journal import session_file
from turnwright.journal.commands import CreateSession, EraseEntry
from turnwright.journal.errors import CommandRejected, InvalidInput
from turnwright.journal.session_file import written as line_of
from turnwright.journal.store import Journal
from turnwright.journal.store_admin import list_sessions
from turnwright.journal.store_export import export_session
from turnwright.journal.store_import import LEAD, discard_abandoned
from turnwright.journal.transact.importing import Piece, begin_import, write_piece


@pytest.fixture
async def full(played: Played) -> Played:
    """A session with all that a session can have."""
    return await lived_in(played)


class Cut(Exception):
    """Stands for a crash."""


@pytest.mark.parametrize("where", ["middle", "last", "torn"])
async def test_a_file_that_was_cut_off_is_refused_with_what_is_missing(
    played: Played, target: Played, tmp_path: Path, where: str
) -> None:
    path = await plain(played, tmp_path / "s.jsonl")
    lines = path.read_bytes().splitlines(keepends=True)
    cut = {"middle": lines[:-4], "last": lines[:-1], "torn": [*lines[:-1], lines[-1][:9]]}[where]
    path.write_bytes(b"".join(cut))
    entries = sum(json.loads(line)["kind"] == "entry" for line in lines)
    missing = f"{entries - 3} of its {entries} entries are there, and its last line is missing"
    if where != "middle":
        missing = r"the file ends (after|in the middle of) line \d+: its last line is missing"
    with pytest.raises(InvalidInput, match=missing):
        await take(target, path)
    assert (await list_sessions(target.journal, "t")).items == ()


def forged(path: Path, change: dict[str, object], kind: str = "entry") -> None:
    """Change a line, of entries that of an answer, and write a last line that fits."""
    lines = [json.loads(line) for line in path.read_bytes().splitlines()]
    changed = next(line for line in lines if line["kind"] == kind and line.get("type") in (None, "model.responded"))
    changed |= change
    raw = [json.dumps(line, sort_keys=True, separators=(",", ":")).encode() + b"\n" for line in lines[:-1]]
    lines[-1]["sha256"] = hashlib.sha256(b"".join(raw)).hexdigest()
    path.write_bytes(b"".join(raw) + json.dumps(lines[-1]).encode() + b"\n")


@pytest.mark.parametrize(
    "change",
    [
        {"body": {"ordinal": 1, "blocks": []}},
        {"turn_id": "t-0"},
        {"hash": "00" * 32},
        {"of": 7},
        {"salt": None},
        {"seq": 1},
        {"position": 1},
        {"seq": 2**70},
        {"at_us": None},
        {"at_us": 2**70},
        {"version": 2**40},
        {"type": {}},
        {"run": "a\0b"},
    ],
)
async def test_what_was_changed_is_found_and_nothing_of_it_stays(
    played: Played, target: Played, tmp_path: Path, change: dict[str, object]
) -> None:
    path = await plain(played, tmp_path / "s.jsonl")
    whole = path.read_bytes()
    forged(path, change)
    with pytest.raises(InvalidInput, match=r"entry|line \d+"):
        await take(target, path)
    assert await target.journal.session(PLAIN) is None
    path.write_bytes(whole)
    assert (await take(target, path)).duplicate is False
    assert await proven(target.journal) == []


@pytest.mark.parametrize(
    ("kind", "change"),
    [
        ("entry", {"at_us": 1.5}),
        ("entry", {"body": {"ordinal": 1, "blocks": []}}),
        ("entry", {"turn_id": "t-0"}),
        ("blob", {"bytes": ""}),
        ("thread", {"hash": 1}),
    ],
)
async def test_of_a_file_that_was_changed_on_its_way_it_is_said_where(
    full: Played, target: Played, tmp_path: Path, kind: str, change: dict[str, object]
) -> None:
    path = await written(full, tmp_path / "s.jsonl")
    lines = path.read_bytes().splitlines()
    number = next(n for n, line in enumerate(lines) if json.loads(line)["kind"] == kind)
    lines[number] = json.dumps(json.loads(lines[number]) | change).encode()
    path.write_bytes(b"".join(line + b"\n" for line in lines))
    with pytest.raises(InvalidInput, match=rf"another one; line {number + 1} is not as it was written"):
        await take(target, path)


async def test_a_file_of_others_whole_lines_is_refused_without_a_place(
    full: Played, target: Played, tmp_path: Path
) -> None:
    path = await written(full, tmp_path / "s.jsonl")
    lines = [json.loads(line) for line in path.read_bytes().splitlines()]
    next(line for line in lines if line["kind"] == "request")["request_id"] = "another"
    path.write_bytes(b"".join(line_of(line) for line in lines))
    with pytest.raises(InvalidInput, match=r"the digest in its last line is another one$"):
        await take(target, path)


@pytest.mark.parametrize(("at", "name"), [(0, "entries"), (0, "threads"), (-1, "requests"), (-1, "blobs")])
async def test_a_file_that_counts_its_lines_wrong_is_refused(
    full: Played, target: Played, tmp_path: Path, at: int, name: str
) -> None:
    path = await written(full, tmp_path / "s.jsonl")
    lines = [json.loads(line) for line in path.read_bytes().splitlines()]
    counts = lines[0]["counts"] if at == 0 else lines[-1]
    counts[name] += 1
    lines[-1]["sha256"] = hashlib.sha256(b"".join(map(line_of, lines[:-1]))).hexdigest()
    path.write_bytes(b"".join(map(line_of, lines)))
    with pytest.raises(InvalidInput, match=rf"its (first|last) line counts {counts[name]} {name}"):
        await take(target, path)


async def test_a_file_that_becomes_another_while_it_is_imported_is_not_taken(
    full: Played, target: Played, tmp_path: Path
) -> None:
    path = await written(full, tmp_path / "s.jsonl")
    await full.submit("more")
    other = await written(full, tmp_path / "other.jsonl")

    def swap(point: str) -> None:
        if point == "begin" and other.exists():
            other.replace(path)

    target.journal.driver.hook = swap
    with pytest.raises(InvalidInput, match="the file was changed while it was imported"):
        await take(target, path)
    target.journal.driver.hook = None
    assert await target.journal.session(SESSION) is None
    assert (await take(target, path)).duplicate is False


async def test_a_line_that_is_longer_than_any_is_not_read(
    full: Played, target: Played, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = await written(full, tmp_path / "s.jsonl")
    longest = max(map(len, path.read_bytes().splitlines(keepends=True)))
    monkeypatch.setattr(session_file, "LINE_BYTES_MAX", longest - 1)
    with pytest.raises(InvalidInput, match=rf"line \d+ has more than {longest - 1:,} bytes"):
        await take(target, path)
    monkeypatch.setattr(session_file, "LINE_BYTES_MAX", longest)
    assert (await take(target, path)).duplicate is False


@pytest.mark.parametrize(
    ("kind", "change"),
    [
        ("thread", {"kept": {"reducer_version": 1, "control": {"seq": "three"}, "session": {}}}),
        ("thread", {"agent": 0}),
        ("thread", {"entries": [1]}),
        ("turn", {"of": []}),
        ("turn", {"of": None}),
        ("request", {"request_id": None}),
        ("request", {"digest": {}}),
        ("request", {"command": "\ud800"}),
        ("request", {"receipt": {"request_id": "create", "status": "accepted", "seq": {}}}),
    ],
)
async def test_a_line_of_another_shape_is_said_to_be_wrong_and_nothing_of_it_stays(
    full: Played, target: Played, sql_there: Sql, tmp_path: Path, kind: str, change: dict[str, object]
) -> None:
    path = await written(full, tmp_path / "s.jsonl")
    forged(path, change, kind)
    with pytest.raises(InvalidInput, match="cannot be read"):
        await take(target, path)
    assert await sql_there("SELECT count(*) FROM sessions") == [(0,)]


class Cutting:
    """Ends an import at the n-th commit, before or after it."""

    def __init__(self, nth: int) -> None:
        self.left = nth

    def __call__(self, point: str) -> None:
        self.left -= point in ("commit", "committed")
        if not self.left:
            raise Cut


async def test_wherever_an_import_is_cut_off_nothing_is_seen_and_the_next_one_goes_on(
    full: Played, target: Played, tmp_path: Path
) -> None:
    path = await written(full, tmp_path / "s.jsonl")
    before, driver, nth, done = await facts(full.journal, SESSION), target.journal.driver, 0, False
    while not done:
        nth += 1
        driver.hook = Cutting(nth)
        try:
            await take(target, path)
            done = True
        except Cut:
            driver.hook = None
            seen = await facts(target.journal, SESSION)
            listed = (await list_sessions(target.journal, "t")).items
            thread = await target.journal.thread(KEY)
            assert (seen[: len(before)] == before) if listed else (seen, thread) == ([], None)
    driver.hook = None
    assert nth > 6
    assert (await facts(target.journal, SESSION))[: len(before)] == before
    assert await proven(target.journal) == []


KILLED = """
import asyncio, os, signal, sys
from pathlib import Path
from turnwright.journal.schedules import Definition, Times
from turnwright.journal.store import Journal
from turnwright.journal.store_import import Target, import_session

async def main(url, path):
    journal = await Journal.open(url)
    left = 4
    def kill(point):
        nonlocal left
        left -= point == "commit"
        if not left:
            os.kill(os.getpid(), signal.SIGKILL)
    journal.driver.hook = kill
    await import_session(journal, Path(path), Target("t"), principal="ann")

asyncio.run(main(*sys.argv[1:]))
"""


async def test_a_killed_import_is_not_seen_and_is_done_again(played: Played, tmp_path: Path) -> None:
    path = await plain(played, tmp_path / "s.jsonl")
    url = f"sqlite:///{tmp_path}/killed.db"
    journal = await Journal.open(url, migrate=True)
    try:
        child = await asyncio.create_subprocess_exec(sys.executable, "-c", KILLED, url, str(path))
        assert await child.wait() == -signal.SIGKILL
        assert (await list_sessions(journal, "t")).items == ()
        assert (await take(Played(journal), path)).duplicate is False
        assert await facts(journal, PLAIN) != []
        assert await proven(journal) == []
    finally:
        await journal.close()


async def test_what_another_file_left_hidden_gives_way(full: Played, target: Played, tmp_path: Path) -> None:
    path = await written(full, tmp_path / "s.jsonl")

    def cut(point: str) -> None:
        if point == "import_payload":
            raise Cut

    target.journal.driver.hook = cut
    with pytest.raises(Cut):
        await take(target, path)
    target.journal.driver.hook = None
    receipt = await target.journal.execute(SESSION, CreateSession(request_id="mine"))
    assert (receipt.status, receipt.code) == ("rejected", "session_importing")
    await full.submit("more")
    done = await take(target, await written(full, tmp_path / "later.jsonl"))
    assert done.unfinished == 3
    assert await proven(target.journal) == []


async def test_what_was_cut_off_and_is_never_gone_on_with_is_erased(
    full: Played, target: Played, tmp_path: Path, sql_there: Sql
) -> None:
    path = await written(full, tmp_path / "s.jsonl")
    target.journal.driver.hook = Cutting(9)
    with pytest.raises(Cut):
        await take(target, path)
    target.journal.driver.hook = None
    assert await discard_abandoned(target.journal.driver, 100) == 0, "it is fresh"
    await sql_there("UPDATE imports SET begun_us = 1")
    assert await discard_abandoned(target.journal.driver, 100) > 0
    for table in ("imports", "sessions", "threads", "entries", "payloads", "blobs", "requests", "counters"):
        assert await sql_there(f"SELECT count(*) FROM {table}") == [(0,)], table
    receipt = await target.journal.execute(SESSION, CreateSession(request_id="mine"))
    assert receipt.status == "accepted"


async def test_content_that_is_erased_while_its_session_is_exported_ends_the_export(played: Played) -> None:
    turn = await played.submit("a secret")
    lines = export_session(played.journal, SESSION)
    await anext(lines)
    await played.execute(SESSION.log, EraseEntry(request_id="e", seq=1))
    with pytest.raises(CommandRejected) as refused:
        [line async for line in lines]
    assert refused.value.code == "content_erased"
    assert [line async for line in export_session(played.journal, SESSION)]
    assert await played.journal.turn(KEY, turn) is not None


async def test_one_process_imports_at_a_time(played: Played, target: Played, tmp_path: Path) -> None:
    path = await plain(played, tmp_path / "s.jsonl")
    lead = await target.journal.driver.try_lead(LEAD, lease_s=60)
    assert lead is not None
    with pytest.raises(CommandRejected) as refused:
        await take(target, path)
    assert refused.value.code == "import_busy"
    await lead.release()
    assert (await take(target, path)).duplicate is False


async def test_an_import_that_was_discarded_before_its_end_says_so_and_may_be_repeated(
    played: Played, target: Played, sql_there: Sql, tmp_path: Path
) -> None:
    path, driver = await plain(played, tmp_path / "s.jsonl"), target.journal.driver
    begun = await driver.write(partial(begin_import, PLAIN, "digest"))
    await driver.write(partial(write_piece, PLAIN, begun, "digest", Piece()))
    await sql_there("UPDATE imports SET begun_us = 1")
    assert await discard_abandoned(driver, 9) > 0
    with pytest.raises(CommandRejected) as refused:
        await driver.write(partial(write_piece, PLAIN, begun, "digest", Piece()))
    assert refused.value.code == "import_lost"
    assert (await take(target, path)).duplicate is False
    assert await proven(target.journal) == []
