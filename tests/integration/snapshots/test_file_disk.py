"""Files of snapshots: what was kept is there after a power cut, and no more of them is read than is needed."""

import os
import tracemalloc
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from turnwright.journal.ids import ThreadKey
from turnwright.journal.snapshots.opening import open_snapshots
from turnwright.journal.snapshots.snapshot import Offer, SnapshotKey

KEY = SnapshotKey(ThreadKey("default", "ann", "shop", "order-17"))


class Disk:
    """What was brought to the disk, in order: a folder or a file, and which files stood in the place by then."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.brought: list[tuple[Path, frozenset[Path]]] = []
        self._sync = os.fsync

    def fsync(self, descriptor: int) -> None:
        """As `os.fsync`, with a note."""
        where = Path(f"/proc/self/fd/{descriptor}").readlink()
        self.brought.append((where, frozenset(self.root.glob("??/*/*.json"))))
        self._sync(descriptor)

    def last(self, path: Path) -> frozenset[Path]:
        """The files that stood there when that one was brought last."""
        return [files for where, files in self.brought if where == path][-1]


async def test_a_snapshot_and_all_folders_it_is_in_are_on_the_disk_once_it_is_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = tmp_path / "srv" / "snapshots"
    disk = Disk(root)
    monkeypatch.setattr(os, "fsync", disk.fsync)
    async with open_snapshots(f"file://{root}") as store:
        assert [where for where, _ in disk.brought] == [tmp_path, root.parent], "the place itself"
        await store.put(KEY, Offer.of_value(1, "one"))
        [file] = root.glob("??/*/*.json")
        new = file.with_name(f".{file.name}.new")
        assert [where for where, _ in disk.brought][2:] == [new, file.parent, file.parent.parent, root]
        assert disk.last(new) == frozenset()
        assert {file} == disk.last(file.parent) == disk.last(file.parent.parent) == disk.last(root)
        disk.brought.clear()
        await store.put(KEY, Offer.of_value(2, "two"))
        assert [where for where, _ in disk.brought] == [new, file.parent]
        disk.brought.clear()
        assert await store.remove(KEY)
        assert [(where, len(files)) for where, files in disk.brought] == [(file.parent, 0)]


async def test_a_folder_that_somebody_made_and_died_is_brought_to_the_disk_by_the_next(
    file_place: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = Path(urlsplit(file_place).path)
    async with open_snapshots(file_place) as store:
        await store.put(KEY, Offer.of_value(1, "one"))
        [file] = root.glob("??/*/*.json")
        file.unlink()
        disk = Disk(root)
        monkeypatch.setattr(os, "fsync", disk.fsync)
        await store.put(KEY, Offer.of_value(1, "one"))
        assert [where for where, _ in disk.brought][1:] == [file.parent, file.parent.parent, root]


async def test_the_keys_of_large_snapshots_are_listed_without_reading_those(file_place: str) -> None:
    large = "said " * 2_000_000
    async with open_snapshots(file_place) as store:
        for n in range(3):
            await store.put(SnapshotKey(KEY.thread, f"state-{n}"), Offer.of_value(1, large))
        tracemalloc.start()
        listed = [key.state_key async for key in store.every_key()]
        _, peak_bytes = tracemalloc.get_traced_memory()
        tracemalloc.stop()
    assert sorted(listed) == ["state-0", "state-1", "state-2"]
    assert peak_bytes < len(large) / 2
