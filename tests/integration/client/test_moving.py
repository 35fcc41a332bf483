"""A session is written to a file by whoever reaches it, and read where a journal is."""

import asyncio
import json
from pathlib import Path

import pytest

from tests.integration.client.conftest import Connect
from tests.integration.client.hands import AGENT, Hands
from tests.integration.client.program import application
from tests.integration.client.terminal import Run, invoke, lines, refused, shown
from tests.integration.guides import Guide
from turnwright.client import Client, CommandRejected, InvalidInput, NotFound, Session
from turnwright.journal.store import Journal

OF = ("s", "-u", "ann")


async def test_a_session_is_exported_as_lines_and_imported_where_a_journal_is(
    connect: Connect, client: Client, session: Session, hands: Hands, tmp_path: Path, through: str
) -> None:
    await hands.finish(await session.submit("where is my parcel?", agent=AGENT), "in Oslo")
    file = tmp_path / "s.jsonl"
    file.write_bytes(b"".join([part async for part in session.export()]))
    kinds = [json.loads(line)["kind"] for line in file.read_bytes().splitlines()]
    assert (kinds[0], kinds[-1]) == ("header", "end")
    with pytest.raises(NotFound, match="no session none"):
        await anext(client.session("ann", "none").export())
    if through == "gateway":
        with pytest.raises(InvalidInput, match="where its journal is"):
            await client.import_session(file)
    url = f"sqlite:///{tmp_path / 'elsewhere.db'}"
    async with Client.connect(journal_url=url, tenant="beta", migrate=True) as there:
        done = await there.import_session(file, user=None, session_id="moved", reason="a new home")
        assert (done.unfinished, done.duplicate) == (0, False)
        moved = there.session(None, "moved")
        assert [turn.status.output_message for turn in (await there.turns(moved)).items] != []
        [last] = await moved.history(len(await session.history()))
        assert (last.entry.type, last.entry.payload.reason) == ("session.imported", "a new home")  # type: ignore[attr-defined]


async def test_a_session_moves_on_the_command_line(run: Run, session: Session, hands: Hands, tmp_path: Path) -> None:
    await hands.finish(await session.submit("one", agent=AGENT))
    await session.submit("not yet", agent=AGENT)
    file, elsewhere = tmp_path / "s.jsonl", f"sqlite:///{tmp_path / 'elsewhere.db'}"
    assert "bytes" in shown(await run("export", *OF, "-o", str(file)))
    piped = await run("export", *OF)
    assert lines(piped)[:-1] == [json.loads(line) for line in file.read_bytes().splitlines()][:-1]
    assert "--output" in refused(await run("export", *OF, "--json"), 2)
    assert "no session" in refused(await run("export", "none", "-o", str(tmp_path / "none.jsonl")))
    assert list(tmp_path.glob("*none*")) == []
    await (await Journal.open(elsewhere, migrate=True)).close()
    there = application(elsewhere)
    told = shown(await invoke(there, "import", str(file)))
    assert "session s has 1 thread and" in told
    assert "1 turn not ended; it is paused: `turnwright session resume s -u ann`" in told
    assert "nothing was changed" in shown(await invoke(there, "import", str(file)))
    [plain] = lines(await invoke(there, "import", str(file), "--json"))
    assert (plain["session"], plain["user"], plain["duplicate"]) == ("s", "ann", True)
    cut = tmp_path / "cut.jsonl"
    await asyncio.to_thread(cut.write_bytes, (await asyncio.to_thread(file.read_bytes))[:-40])
    assert "its last line is missing" in refused(await invoke(there, "import", str(cut), "--as-session", "other"), 2)
    assert "exclude" in refused(await invoke(there, "import", str(file), "--user", "bob", "--anonymous"), 2)


async def test_what_is_refused_of_a_move_is_refused_as_any_command(
    client: Client, session: Session, hands: Hands, tmp_path: Path
) -> None:
    await hands.finish(await session.submit("one", agent=AGENT), "done")
    other = client.session("ann", "other")
    with pytest.raises(CommandRejected, match="there is no session other") as nowhere:
        await session.thread(AGENT).fork(session="other")
    assert (nowhere.value.code, nowhere.value.key) == ("unknown_session", other.key)
    await other.create()
    await session.thread(AGENT).fork(session="other")
    with pytest.raises(CommandRejected, match="whole") as refused_:
        await anext(other.export())
    assert (refused_.value.code, refused_.value.receipt.status) == ("not_whole", "rejected")
    file, url = tmp_path / "s.jsonl", f"sqlite:///{tmp_path / 'elsewhere.db'}"
    file.write_bytes(b"".join([part async for part in session.export()]))
    async with Client.connect(journal_url=url, migrate=True) as there:
        await there.import_session(file)
        with pytest.raises(CommandRejected) as twice:
            await there.import_session(file, session_id="again")
    assert twice.value.code == "turn_exists"


async def test_the_guide_moves_a_session(
    connect: Connect, journal_url: str, hands: Hands, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, through: str
) -> None:
    if through == "gateway":
        pytest.skip("the guide connects by itself")
    monkeypatch.chdir(tmp_path)
    session = (await connect(tenant="default")).session("alice", "trip")
    await session.create()
    await hands.finish(await session.submit("one", agent=AGENT))
    other = "sqlite:///other.db"
    await (await Journal.open(other, migrate=True)).close()
    guide = Guide("moving-sessions.md", Client=Client, journal_url=journal_url, other_url=other)
    await guide.run(guide.block("import_session"))
    assert guide.names["imported"].key.session == "trip to Oslo"
