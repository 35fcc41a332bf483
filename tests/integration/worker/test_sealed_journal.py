"""A sealed journal under real workers: turns go on while its keys change, and wait for whoever has them."""

import base64
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.integration.runtime.scripts import call, say
from tests.integration.worker.stack import Stack, until
from turnwright.client import Client
from turnwright.journal import store_sealing
from turnwright.journal.store import Journal
from turnwright.journal.store_verify import verify
from turnwright.worker.temporal_server import TemporalServer


@pytest.fixture
def keys(tmp_path: Path) -> Path:
    file = tmp_path / "journal.keys"
    file.write_text(line("a"))
    return file


def line(name: str) -> str:
    return f"{name} {base64.b64encode(name.encode() * 32).decode()}\n"


@pytest.fixture
async def stack(tmp_path: Path, temporal: TemporalServer, keys: Path) -> AsyncIterator[Stack]:
    async with Stack.open(tmp_path, f"sqlite:///{tmp_path}/journal.db?keys={keys}", temporal) as stack:
        yield stack


async def there(file: Path) -> None:
    async def exists() -> bool:
        return file.exists()

    await until(exists)


async def test_a_turn_is_taken_over_while_the_key_changes(stack: Stack, keys: Path) -> None:
    first = await stack.ready_worker()
    log, gate = stack.folder / "log", stack.folder / "gate"
    turn = await stack.submit(call("look", log=str(log), wait_for=str(gate)), say("done with platypus"))
    await there(log)
    keys.write_text(line("b") + line("a"))
    await stack.ready_worker()
    journal = await Journal.open(stack.journal_url)
    assert await store_sealing.wrap_anew(journal.driver) == 1
    first.kill()
    gate.touch()
    assert (await turn.result(timeout_s=60)).text == "done with platypus"
    await journal.close()
    keys.write_text(line("b"))
    later = await Journal.open(stack.journal_url)
    assert [finding async for proof in verify(later) for finding in proof.findings] == []
    await later.close()
    for file in stack.folder.glob("journal.db*"):
        assert not file.is_file() or b"platypus" not in file.read_bytes()


async def test_a_worker_without_the_keys_leaves_a_sealed_turn_to_one_that_has_them(stack: Stack) -> None:
    without, _, _ = stack.journal_url.partition("?")
    poor = await stack.ready_worker(journal_url=without)
    turn = await stack.submit(say("done"))
    await poor.until_said("thread_of_a_newer_version")
    assert (await turn.status()).status != "failed"
    await stack.ready_worker()
    assert (await turn.result(timeout_s=60)).text == "done"
    assert poor.process.is_running


async def test_where_a_journal_is_sealed_nobody_begins_without_its_keys(stack: Stack) -> None:
    await stack.client.session(None, "s").create()
    without, _, _ = stack.journal_url.partition("?")
    worker = await stack.worker(journal_url=without)
    assert await worker.ended() != 0
    assert "this process has no keys" in worker.log_file.read_text()
    with pytest.raises(Exception, match="this process has no keys"):
        async with Client.connect(journal_url=without):
            pass
