"""Transcripts say what the journal says, whatever became of the files, and nothing that is erased or deleted."""

import asyncio
import json
import stat
import threading
from collections.abc import Iterable
from pathlib import Path
from typing import Any, TypeAlias

import pytest

from tests.integration.journal.conftest import KEY, SESSION, Played
from tests.integration.journal.forking import fork, rewind, said, texts
from turnwright.journal import store_disk
from turnwright.journal.agents import ContextPolicy
from turnwright.journal.commands import (
    CallSpec,
    ClearContext,
    CompactContext,
    DeleteSession,
    EraseEntry,
    FinishTool,
    StartTool,
)
from turnwright.journal.context.candidate import candidate
from turnwright.journal.entries import ToolDecided
from turnwright.journal.ids import ThreadKey
from turnwright.journal.messages import Text, ToolCall
from turnwright.journal.store import Journal
from turnwright.journal.store_delete import delete_session, read_tombstone
from turnwright.journal.store_transcripts import LOCK, TranscriptWriter
from turnwright.journal.transcripts import files
from turnwright.journal.transcripts.names import LOG, VIEW, place

Files: TypeAlias = tuple[bytes, bytes]
CUTS = 12
LOOP_TURNS = 100
SIDE = ThreadKey("t", None, "agent", "s", "side")
NARROW = ContextPolicy(window_tokens=1_000, compact_above=0.2, compact_to=0.1, result_characters_max=1_000)


class Kept:
    """A folder of transcripts, and writers for it."""

    def __init__(self, journal: Journal, folder: Path) -> None:
        self.journal, self.folder = journal, folder
        self.log, self.view = place(folder, SESSION, LOG), place(folder, SESSION, VIEW)
        self._writer: TranscriptWriter | None = None

    async def go_on(self) -> int:
        """The writer that is there writes what is new."""
        if self._writer is None:
            self._writer = TranscriptWriter(self.journal, self.folder)
            assert self._writer.take()
        return await self._writer.round()

    async def afresh(self) -> Files:
        """Another process goes on."""
        if self._writer is not None:
            self._writer.leave()
        self._writer = None
        await self.go_on()
        return self.files()

    def files(self) -> Files:
        return self.log.read_bytes(), self.view.read_bytes()

    def logged(self) -> list[dict[str, Any]]:
        return [json.loads(line) for line in self.log.read_bytes().splitlines()[1:]]

    def seen(self) -> list[tuple[str, str, str]]:
        """Thread, role and text of each message."""
        lines = [json.loads(line) for line in self.view.read_bytes().splitlines()[1:]]
        return [(x["thread"], x["role"], "".join(b.get("text", b["type"]) for b in x["blocks"])) for x in lines]


@pytest.fixture
def kept(played: Played, tmp_path: Path) -> Kept:
    return Kept(played.journal, tmp_path / "transcripts")


async def answered(played: Played, text: str, key: ThreadKey = KEY) -> None:
    turn = await played.submit(text, key)
    epoch = await played.claim(turn, key)
    await played.ask(turn, epoch, key)
    await played.answer(turn, epoch, Text(text=f"{text} is done"), key=key)


async def everything(journal: Journal) -> list[dict[str, Any]]:
    found = await journal.timeline(SESSION, 0, 500)
    return [{"agent": x.thread.agent, "thread": x.thread.thread} | x.entry.as_json() for x in found]


async def test_everything_is_logged_and_what_the_model_sees_stands_beside_it(played: Played, kept: Kept) -> None:
    await answered(played, "large " * 30_000)
    await kept.go_on()
    first, inode = kept.files(), kept.log.stat().st_ino
    await answered(played, "two", SIDE)
    assert await kept.go_on() == 1
    assert await kept.go_on() == 0
    log, view = kept.files()
    assert (log.startswith(first[0]), view.startswith(first[1])) == (True, True), "both only grew"
    assert kept.log.stat().st_ino == inode
    assert kept.logged() == await everything(played.journal)
    large = "large " * 30_000
    assert kept.seen() == [
        ("main", "user", large), ("main", "assistant", f"{large} is done"),
        ("side", "user", "two"), ("side", "assistant", "two is done"),
    ]  # fmt: skip


async def test_wherever_the_files_were_cut_off_or_lost_they_are_written_the_same(played: Played, kept: Kept) -> None:
    await answered(played, "one")
    await answered(played, "two", SIDE)
    whole = await kept.afresh()
    log, view = whole
    damages = [(log[:n], view) for n in range(0, len(log), len(log) // CUTS)]
    damages += [(log[:-1], view[:n]) for n in range(0, len(view), len(view) // CUTS)]
    damages += [(log, view[:-9]), (log + b"\0" * 700, view), (log, b"{}\n" + view)]
    for held, shown in damages:
        kept.log.write_bytes(held)
        kept.view.write_bytes(shown)
        assert await kept.afresh() == whole
    for lost in (kept.log, kept.view):
        lost.unlink()
        assert await kept.afresh() == whole


async def test_threads_that_took_turns_have_the_same_lines_however_they_were_written(
    played: Played, kept: Kept, tmp_path: Path
) -> None:
    for number, key in enumerate((KEY, SIDE, KEY, SIDE)):
        await answered(played, f"said {number}", key)
        await kept.go_on()
    anew = Kept(played.journal, tmp_path / "anew")
    await anew.go_on()
    assert kept.log.read_bytes() == anew.log.read_bytes()
    for thread in (b'"thread":"main"', b'"thread":"side"'):
        mine, theirs = ([line for line in one.view.read_bytes().splitlines() if thread in line] for one in (kept, anew))
        assert mine == theirs
        assert len(mine) == 4


async def test_a_file_that_holds_something_else_is_written_anew(played: Played, kept: Kept) -> None:
    await answered(played, "one")
    whole = await kept.afresh()
    lines = whole[0].splitlines(keepends=True)
    other = lines[-1].replace(json.loads(lines[-1])["hash"].encode(), b"00" * 32)
    kept.log.write_bytes(b"".join([*lines[:-1], other]))
    assert await kept.afresh() == whole, "the journal was put back to a backup"
    kept.log.write_bytes(whole[0].replace(b'"session":"s"', b'"session":"x"', 1))
    assert await kept.afresh() == whole


async def calling(played: Played) -> dict[str, Any]:
    """A turn whose model called a tool, and how that call is named."""
    turn = await played.submit("one")
    epoch = await played.claim(turn)
    await played.ask(turn, epoch)
    call = ToolCall(id="c", name="look", arguments={})
    outcome = await played.answer(turn, epoch, call, tools={"look": CallSpec(effect="read")})
    [called] = [entry.payload.call_id for entry in outcome.entries if isinstance(entry.payload, ToolDecided)]
    return {"turn_id": turn, "epoch": epoch, "step": 1, "call_id": called}


async def finish(played: Played, of: dict[str, Any], text: str) -> None:
    """Run the call."""
    await played.run(KEY, StartTool(**of, nonce="n", presence="worker"))
    await played.run(KEY, FinishTool(**of, ordinal=1, outcome="success", output=(Text(text=text),)))


async def give_way(played: Played, turn: str, epoch: int, step: int, summary: str) -> None:
    """Make room before the step's model call."""
    await played.ask(turn, epoch, step=step)
    found = candidate(await played.journal.state(KEY), NARROW)
    assert found is not None
    compacted = found.compacted(summary) if found.replaced else None
    command = CompactContext(
        turn_id=turn, epoch=epoch, step=step, ordinal=1, offloads=found.offloads, compacted=compacted
    )
    await played.run(KEY, command)


async def test_a_step_is_seen_once_its_calls_have_results(played: Played, kept: Kept) -> None:
    of = await calling(played)
    await kept.go_on()
    assert kept.seen() == [("main", "user", "one")]
    await finish(played, of, "found")
    before = kept.view.read_bytes()
    await kept.go_on()
    assert kept.view.read_bytes().startswith(before), "nothing was written that had to be taken back"
    assert kept.seen()[1:] == [("main", "assistant", "tool_call"), ("main", "tool", "tool_result")]


async def test_what_the_model_sees_no_longer_is_no_longer_there_and_stays_in_the_log(
    played: Played, kept: Kept
) -> None:
    await answered(played, "one")
    await answered(played, "two", SIDE)
    await kept.go_on()
    row = await played.journal.thread(KEY)
    assert row is not None
    await played.execute(KEY, ClearContext(request_id="clear", expected_seq=row.seq))
    log = kept.log.read_bytes()
    await kept.go_on()
    assert kept.seen() == [("side", "user", "two"), ("side", "assistant", "two is done")]
    assert kept.log.read_bytes().startswith(log)
    whole = kept.files()
    assert await kept.afresh() == whole


async def test_what_gave_way_to_a_summary_is_seen_no_longer_and_stays_in_the_log(played: Played, kept: Kept) -> None:
    await answered(played, "one")
    await answered(played, "two", SIDE)
    await kept.go_on()
    log = kept.log.read_bytes()
    turn = await played.submit("three")
    epoch = await played.claim(turn)
    await give_way(played, turn, epoch, 1, "They began.")
    await played.answer(turn, epoch, Text(text="three is done"))
    await kept.go_on()
    assert [(role, text) for thread, role, text in kept.seen() if thread == "main"] == [
        ("user", "Summary of the conversation so far:\nThey began."), ("user", "three"), ("assistant", "three is done"),
    ]  # fmt: skip
    assert [text for thread, _, text in kept.seen() if thread == "side"] == ["two", "two is done"]
    assert kept.log.read_bytes().startswith(log)
    assert kept.logged() == await everything(played.journal)
    whole = kept.files()
    assert await kept.afresh() == whole


async def test_a_result_that_gave_way_is_seen_as_its_stub_and_stays_in_the_log(played: Played, kept: Kept) -> None:
    of = await calling(played)
    await finish(played, of, "found " * 2_000)
    await kept.go_on()
    assert kept.view.read_bytes().count(b"found ") == 2_000
    await give_way(played, of["turn_id"], of["epoch"], 2, "It was looked up.")
    await kept.go_on()
    assert b"characters were set aside" in kept.view.read_bytes()
    assert kept.view.read_bytes().count(b"found ") < 200
    assert kept.log.read_bytes().count(b"found ") > 2_000, "the whole result, and its stub"
    assert kept.logged() == await everything(played.journal)
    whole = kept.files()
    assert await kept.afresh() == whole


async def test_a_rewound_thread_shows_what_it_goes_on_from_and_a_fork_what_it_began_with(
    played: Played, kept: Kept
) -> None:
    await said(played, "one")
    await said(played, "two")
    await kept.go_on()
    log = kept.log.read_bytes()
    await fork(played, None, "other")
    await rewind(played, 7)
    await kept.go_on()
    assert kept.log.read_bytes().startswith(log)
    for thread, key in (("main", KEY), ("other", ThreadKey("t", None, "agent", "s", "other"))):
        seen = [text for shown, _, text in kept.seen() if shown == thread]
        assert seen == texts(await played.journal.state(key))
    whole = kept.files()
    assert await kept.afresh() == whole


@pytest.mark.parametrize("running", [True, False])
async def test_what_is_erased_is_in_neither_file(played: Played, kept: Kept, running: bool) -> None:
    await answered(played, "secret that was said")
    await kept.go_on()
    assert all(b"secret" in held for held in kept.files())
    for seq in [entry.seq for entry in await played.journal.entries(KEY, 0, 50) if "was said" in str(entry.payload)]:
        await played.execute(KEY, EraseEntry(request_id=f"erase {seq}", seq=seq))
    await (kept.go_on() if running else kept.afresh())
    assert all(b'was said"' not in held and b"is done" not in held for held in kept.files())
    assert kept.logged() == await everything(played.journal)


async def test_what_a_crash_left_beside_the_files_goes_with_a_session_that_is_deleted(
    played: Played, kept: Kept
) -> None:
    await answered(played, "one")
    await kept.go_on()
    left = [path.rename(path.with_name(f"{path.name}.new")) for path in (kept.log, kept.view)]
    await delete_session(played.journal, SESSION, DeleteSession(request_id="delete"))
    with pytest.raises(FileNotFoundError):
        await kept.afresh()
    assert not any(path.exists() for path in left)


async def test_only_their_owner_reads_them_whatever_the_folder_allows(played: Played, kept: Kept) -> None:
    kept.folder.mkdir(mode=0o755)
    await answered(played, "one")
    await kept.go_on()
    await answered(played, "two", SIDE)
    await kept.go_on()
    assert {stat.S_IMODE(path.stat().st_mode) for path in (kept.log, kept.view)} == {0o600}


@pytest.mark.parametrize("running", [True, False])
async def test_the_files_of_a_deleted_session_are_deleted_and_its_receipt_says_so(
    played: Played, kept: Kept, running: bool
) -> None:
    await answered(played, "one")
    await kept.go_on()
    await delete_session(played.journal, SESSION, DeleteSession(request_id="delete"))
    if running:
        await kept.go_on()
        assert (kept.log.exists(), kept.view.exists()) == (False, False)
    else:
        with pytest.raises(FileNotFoundError):
            await kept.afresh()
    assert [path.name for path in kept.folder.iterdir()] == [LOCK], "no folder tells whose they were"
    tombstone = await read_tombstone(played.journal, SESSION)
    assert tombstone is not None
    assert tombstone.counts["transcripts"] == 2
    again = await delete_session(played.journal, SESSION, DeleteSession(request_id="delete"))
    assert again.stores["transcripts"] == {"files": 2}


async def test_one_process_writes_and_the_next_one_goes_on(played: Played, kept: Kept) -> None:
    await answered(played, "one")
    await kept.go_on()
    second = TranscriptWriter(played.journal, kept.folder)
    assert second.take() is False
    whole = await kept.afresh()
    assert kept.files() == whole


@pytest.mark.parametrize("finish_s", [60.0, 0.05], ids=["slow disk", "silent disk"])
async def test_who_is_told_to_stop_in_the_middle_of_writing_lets_nobody_write_beside_it(
    played: Played, kept: Kept, monkeypatch: pytest.MonkeyPatch, finish_s: float
) -> None:
    began, go_on = threading.Event(), threading.Event()
    append = files.append

    def slow(path: Path, lines: Iterable[bytes]) -> None:
        began.set()
        assert go_on.wait(10)
        append(path, lines)

    monkeypatch.setattr(files, "append", slow)
    monkeypatch.setattr(store_disk, "FINISH_S", finish_s)
    await answered(played, "one")
    writer, other = TranscriptWriter(kept.journal, kept.folder), TranscriptWriter(kept.journal, kept.folder)
    assert writer.take()
    writing = asyncio.create_task(writer.round())
    await asyncio.to_thread(began.wait, 10)
    writing.cancel()
    if finish_s < 1:
        await asyncio.wait({writing})
        writer.leave()
    else:
        for _ in range(LOOP_TURNS):  # the cancel reaches whoever waits in the first few
            await asyncio.sleep(0)
        assert not writing.done()
    assert not other.take(), "the thread is at work still"
    go_on.set()
    await asyncio.wait({writing})
    writer.leave()
    async with asyncio.timeout(10):
        while not other.take():
            await asyncio.sleep(0.01)
    await other.round()
    other.leave()
    assert kept.logged() == await everything(played.journal)
