"""Keys for what passes through Temporal: nothing of it is read there, and turns go on while they are changed."""

import base64
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path

import pytest

from tests.integration.runtime.scripts import call, say
from tests.integration.worker.stack import Stack, until
from turnwright.client.client import Client
from turnwright.client.settings import ClientSettings
from turnwright.client.turn import Turn
from turnwright.journal.store import Journal
from turnwright.worker.temporal_server import TemporalServer
from turnwright.workflows.ids import turn_workflow_id


@pytest.fixture
async def stack(tmp_path: Path, temporal: TemporalServer) -> AsyncIterator[Stack]:
    async with Stack.open(tmp_path, f"sqlite:///{tmp_path}/journal.db", temporal) as stack:
        yield stack


def keys(folder: Path, *names: str) -> Path:
    """A file of these keys, the newest first."""
    file = folder / "-".join(names)
    file.write_text("".join(f"{name} {base64.b64encode(name.encode() * 32).decode()[:43]}=\n" for name in names))
    return file


async def sealed(stack: Stack, file: Path) -> Stack:
    """The same, whose client has these keys."""
    settings = ClientSettings(journal_url=stack.journal_url, temporal_keys=file, temporal_address=stack.server.address)
    return replace(stack, client=await stack.exits.enter_async_context(Client.connect(settings)))


async def test_a_turn_goes_on_under_a_new_key_and_temporal_holds_nothing_of_it_to_read(stack: Stack) -> None:
    old, both = keys(stack.folder, "a"), keys(stack.folder, "b", "a")
    stack = await sealed(stack, old)
    first = await stack.ready_worker(temporal_keys=old)
    log, gate = stack.folder / "log", stack.folder / "gate"
    turn = await stack.submit(call("look", log=str(log), wait_for=str(gate)), say("done"))
    await until_there(log)
    await stack.ready_worker(temporal_keys=both)
    first.kill()
    gate.touch()
    assert (await turn.result(timeout_s=60)).text == "done"
    raw, names = await history(stack, turn)
    assert names == {b"a", b"b"}
    assert turn.key.canonical.encode() not in raw
    assert turn.key.session_key.canonical.encode() not in raw


async def until_there(file: Path) -> None:
    async def there() -> bool:
        return file.exists()

    await until(there)


async def history(stack: Stack, turn: Turn) -> tuple[bytes, set[bytes]]:
    """What Temporal holds of a turn's workflow, and the keys that sealed it."""
    client = await stack.server.connect()
    journal = await Journal.open(stack.journal_url)
    workflow_id = turn_workflow_id(await journal.journal_id(), turn.key, turn.id)
    await journal.close()
    found, names = b"", set[bytes]()
    async for event in client.get_workflow_handle(workflow_id).fetch_history_events():
        raw = event.SerializeToString()
        found += raw
        names |= {name for name in (b"a", b"b") if b"\n\x03key\x12\x01" + name in raw}
    return found, names
