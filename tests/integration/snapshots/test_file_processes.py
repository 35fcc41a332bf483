"""Snapshots in files, written by processes that race and by one that is killed."""

import asyncio
import sys
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from turnwright.journal.ids import ThreadKey
from turnwright.journal.snapshots.opening import open_snapshots
from turnwright.journal.snapshots.snapshot import Offer, SnapshotKey

KEY = SnapshotKey(ThreadKey("default", "ann", "shop", "order-17"))
IMPORTS = """
import asyncio, os, signal, sys
from pathlib import Path
from turnwright.journal.errors import SnapshotConflict
from turnwright.journal.ids import ThreadKey
from turnwright.journal.snapshots.opening import open_snapshots
from turnwright.journal.snapshots.snapshot import Offer, SnapshotKey
KEY = SnapshotKey(ThreadKey("default", "ann", "shop", "order-17"))
"""
ADDER = """
async def main(place, name):
    async with open_snapshots(place) as store:
        while True:
            found = await store.load(KEY)
            before, version = ([], 0) if found is None else (found.value, found.version)
            try:
                await store.put(KEY, Offer.of_value(3, [*before, name]), policy="fail", expected_version=version)
                return
            except SnapshotConflict:
                pass
# Many in one process of Python each: the imports are what costs.
for name in sys.argv[2].split(","):
    if os.fork() == 0:
        asyncio.run(main(sys.argv[1], name))
        os._exit(0)
codes = [os.wait()[1] for _ in sys.argv[2].split(",")]
sys.exit(max(codes))
"""
KILLED = """
async def main(place, step):
    calls = []
    def counted(real):
        def call(*given, **named):
            calls.append(real)
            if len(calls) == step:
                os.kill(os.getpid(), signal.SIGKILL)
            return real(*given, **named)
        return call
    os.fsync, Path.replace = counted(os.fsync), counted(Path.replace)
    async with open_snapshots(place) as store:
        await store.put(KEY, Offer.of_value(4, "new " * 100_000))
    os.kill(os.getpid(), signal.SIGKILL)
asyncio.run(main(sys.argv[1], int(sys.argv[2])))
"""


async def python(program: str, *arguments: str) -> int:
    process = await asyncio.create_subprocess_exec(sys.executable, "-c", IMPORTS + program, *arguments)
    async with asyncio.timeout(60):
        return await process.wait()


async def test_sixteen_processes_that_write_one_file_lose_nothing(file_place: str) -> None:
    names = [f"p{n}" for n in range(16)]
    assert await python(ADDER, file_place, ",".join(names)) == 0
    async with open_snapshots(file_place) as store:
        found = await store.load(KEY)
    assert found is not None
    assert (sorted(found.value), found.version) == (sorted(names), 16)


@pytest.mark.parametrize(("step", "left"), [(1, "old"), (2, "old"), (3, "new " * 100_000), (4, "new " * 100_000)])
async def test_whoever_is_killed_while_writing_leaves_the_old_or_the_new_one(
    file_place: str, step: int, left: str
) -> None:
    async with open_snapshots(file_place) as store:
        await store.put(KEY, Offer.of_value(3, "old"))
        assert await python(KILLED, file_place, str(step)) == -9
        found = await store.load(KEY)
        assert found is not None
        assert found.value == left
        assert (await store.put(KEY, Offer.of_value(5, "next"))).written
        assert [key async for key in store.every_key()] == [KEY]
    [*files] = Path(urlsplit(file_place).path).glob("*/*/*.json")
    assert len(files) == 1
