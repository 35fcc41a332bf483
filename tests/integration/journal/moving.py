"""Sessions on their way from one journal to another."""

import hashlib
from pathlib import Path
from typing import Any

from tests.integration.journal.asking import asking, budget
from tests.integration.journal.conftest import SESSION, Played
from turnwright.journal.commands import EraseEntry
from turnwright.journal.ids import SessionKey, ThreadKey
from turnwright.journal.messages import Media, Text
from turnwright.journal.store import Journal
from turnwright.journal.store_export import export_session
from turnwright.journal.store_import import Imported, Target, import_session
from turnwright.journal.store_verify import verify

PLAIN = SessionKey("t", None, "plain")
SIDE = ThreadKey("t", None, "agent", "s", "side")
IMAGE = b"an image"


async def lived_in(played: Played) -> Played:
    """A session with all that a session can have: blobs, media, erased content, a budget, a question and a queue."""
    turn = await played.submit("large " * 60_000)
    await budget(played, "budget", tokens=1_000_000)
    epoch = await played.claim(turn)
    await played.ask(turn, epoch)
    media = Media(mime="image/png", blob=hashlib.sha256(IMAGE).hexdigest())
    await played.answer(turn, epoch, Text(text="platypus"), media, blobs={str(media.blob): IMAGE})
    secret = ThreadKey("t", None, "agent", "s", "secret")
    turn = await played.submit("a secret that nobody may read", secret)
    epoch = await played.claim(turn, secret)
    await played.ask(turn, epoch, secret)
    await played.answer(turn, epoch, Text(text="done"), key=secret)
    await played.execute(secret, EraseEntry(request_id="erase", seq=1))
    await played.execute(SESSION.log, EraseEntry(request_id="erase", seq=1))
    await asking(played, "two", SIDE)
    await played.submit("waits behind it", SIDE)
    return played


async def written(played: Played, path: Path, key: SessionKey = SESSION) -> Path:
    with path.open("wb") as file:
        async for line in export_session(played.journal, key):
            file.write(line)
    return path


async def plain(played: Played, path: Path) -> Path:
    """The file of a session without anything special, none of whose turns is open."""
    key = ThreadKey("t", None, "agent", "plain")
    for text in ("one", "two", "three"):
        turn = await played.submit(text, key)
        epoch = await played.claim(turn, key)
        await played.ask(turn, epoch, key)
        await played.answer(turn, epoch, Text(text=f"{text} is done"), key=key)
    return await written(played, path, PLAIN)


async def take(to: Played, path: Path, target: Target | None = None, *, go_on: bool = False) -> Imported:
    return await import_session(to.journal, path, target or Target("t"), principal="ann", go_on=go_on)


async def proven(journal: Journal) -> list[str]:
    return [f"{f.check}: {f.where} {f.seq} {f.problem}" async for proof in verify(journal) for f in proof.findings]


async def facts(journal: Journal, key: SessionKey) -> list[tuple[str, str, dict[str, Any]]]:
    found = await journal.timeline(key, 0, 500)
    return [(x.thread.agent, x.thread.thread, x.entry.as_json()) for x in found]
