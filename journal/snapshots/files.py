"""Snapshots as files: a folder for each session, in it a JSON file for each state.

    <folder>/<2 digits>/<digest of the session>/<digest of agent, thread and state key>.json
    {"as_of_seq":12,"key":["default","ann","shop","order-17","main","agent_state"],"sha256":"…","version":3,"state":{…}}

Rule: a file is written beside its place, brought to the disk, and put there whole; its folder then, too. Who is killed
at it leaves the old one or the new one. No id is part of a path, so none can leave the folder or meet another. Whoever
writes locks the session's folder; a reader needs no lock.
"""

from __future__ import annotations

import asyncio
import json
import os
import time
from collections.abc import AsyncIterator, Callable, Collection, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import cache, partial
from pathlib import Path
from typing import TypeVar
from uuid import uuid4

from turnwright.journal.canonical import encode
from turnwright.journal.errors import SnapshotGone, StoreUnavailable
from turnwright.journal.ids import SessionKey, ThreadKey
from turnwright.journal.snapshots.deciding import Kept, Policy, checked_policy, judge, kept
from turnwright.journal.snapshots.snapshot import Head, Offer, Snapshot, SnapshotKey, digest_of, unreadable, whole
from turnwright.journal.sqlite.locks import open_lock, try_lock

T = TypeVar("T")
STATE = b',"state":'  # in a text of the head its quotes would be escaped
END = b"}\n"
HEAD_BYTES_MAX = 64 * 1024
LOCK_S_MAX = 30.0
LOCK_LOOK_S = 0.005
THREADS_MAX = 4


class FileSnapshots:
    """Files in one folder."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self.name = f"file://{folder.absolute()}"

    async def start(self) -> None:
        """Make the folder. Raises `StoreUnavailable`."""
        await _apart(partial(_make, self._folder))

    async def stop(self) -> None:
        """Nothing is open."""

    async def place_id(self) -> str:
        """See `SnapshotStore.place_id`."""
        return await _apart(partial(_said, self._folder, "place", uuid4().hex))

    async def owner(self, claimed_by: str = "") -> str:
        """See `SnapshotStore.owner`."""
        return await _apart(partial(_said, self._folder, "journal", claimed_by))

    async def load(self, key: SnapshotKey) -> Snapshot | None:
        """See `SnapshotStore.load`."""
        path = self._path(key.checked())
        return await _apart(lambda: _load(key, path))

    async def put(
        self, key: SnapshotKey, offer: Offer, *, policy: Policy = "keep_newer", expected_version: int | None = None
    ) -> Kept:
        """See `SnapshotStore.put`."""
        checked_policy(policy, expected_version)
        path = self._path(key.checked())
        offer.checked()

        def put() -> Kept:
            with _locked(path.parent):
                if _marker(path.parent).exists():
                    raise SnapshotGone(str(path))
                found = _read(key, path)
                stored = None if found is None else found[0]
                done = kept(stored, judge(stored, offer, policy, expected_version), policy, offer, str(path))
                if done.written:
                    content = _file(key, Head(done.version, offer.as_of_seq, offer.sha256), offer.payload)
                    _replace(path, content, self._folder)
                return done

        return await _apart(put)

    async def remove(self, key: SnapshotKey, version: int | None = None) -> bool:
        """See `SnapshotStore.remove`."""
        path = self._path(key.checked())

        def remove() -> bool:
            with _locked(path.parent):
                found = None if version is None else _read(key, path)
                if version is not None and (found is None or found[0].version != version):
                    return False
                return _unlink(path)

        return await _apart(remove)

    async def delete_session(self, session: SessionKey, threads: Collection[ThreadKey] = ()) -> int:  # noqa: ARG002 - it is one folder
        """See `SnapshotStore.delete_session`."""
        folder = self._of(session.checked())

        def delete() -> int:
            with _locked(folder):
                _replace(_marker(folder), encode({"deleted": session.canonical}) + b"\n", self._folder)
                for torn in folder.glob(".*.json.new"):  # of a writer that was killed
                    _unlink(torn)
                return sum(_unlink(path) for path in sorted(folder.glob("*.json")))

        return await _apart(delete)

    async def revive_session(self, session: SessionKey) -> None:
        """See `SnapshotStore.revive_session`."""
        folder = self._of(session.checked())

        def revive() -> None:
            with _locked(folder):
                _unlink(_marker(folder))

        await _apart(revive)

    async def every_key(self) -> AsyncIterator[SnapshotKey]:
        """See `SnapshotStore.every_key`."""
        for shelf in await _apart(lambda: sorted(self._folder.glob("??"))):
            for session in await _apart(partial(_inside, shelf, "*")):
                for key in await _apart(partial(_keys_of, session)):
                    yield key

    def _of(self, session: SessionKey) -> Path:
        name = digest_of(session.canonical)
        return self._folder / name[:2] / name

    def _path(self, key: SnapshotKey) -> Path:
        return self._of(key.thread.session_key) / f"{digest_of(key.in_session)}.json"


async def _apart(work: Callable[[], T]) -> T:
    """Do it in another thread, for a disk may be slow. What the system refuses is `StoreUnavailable`.

    In threads of their own: a disk that hangs would take all of those that tools run in.
    """
    try:
        return await asyncio.get_running_loop().run_in_executor(_threads(), work)
    except OSError as error:
        raise StoreUnavailable(f"the folder of snapshots cannot be used: {error}") from error


@cache
def _threads() -> ThreadPoolExecutor:
    return ThreadPoolExecutor(THREADS_MAX, "snapshots")


@contextmanager
def _locked(folder: Path) -> Iterator[None]:
    """Alone in the folder, on this machine. The lock goes with the process."""
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    descriptor = open_lock(folder / ".lock")
    try:
        until_s = time.monotonic() + LOCK_S_MAX
        while not try_lock(descriptor):
            if time.monotonic() >= until_s:
                raise StoreUnavailable(f"{folder} is locked by a process that does not go on; end that one")
            time.sleep(LOCK_LOOK_S)
        yield
    finally:
        os.close(descriptor)


def _make(folder: Path) -> None:
    """The folder, and what is missing above it, on the disk when this returns."""
    missing = [each for each in (folder, *folder.parents) if not each.exists()]
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    for made in reversed(missing):
        _sync(made.parent)


def _said(folder: Path, name: str, said: str) -> str:
    """What a file beside the sessions says: `said`, if there was none."""
    path = folder / name
    if said and not path.exists():
        with _locked(folder):
            if not path.exists():
                _replace(path, said.encode(), folder)
    try:
        return path.read_text(encoding="ascii", errors="replace")
    except FileNotFoundError:
        return ""


def _inside(folder: Path, pattern: str) -> list[Path]:
    return sorted(folder.glob(pattern))


def _load(key: SnapshotKey, path: Path) -> Snapshot | None:
    found = _read(key, path)
    return None if found is None else whole(key, *found, str(path))


def _read(key: SnapshotKey, path: Path) -> tuple[Head, bytes] | None:
    """What stands there. Raises `StoreCorrupt`."""
    try:
        content = path.read_bytes()
    except FileNotFoundError:
        return None
    head, _, state = content.partition(STATE)
    try:
        said = json.loads(head + b"}")
        found = Head(int(said["version"]), int(said["as_of_seq"]), str(said["sha256"]))
        of = SnapshotKey.of_parts(said["key"])
    except (ValueError, TypeError, KeyError) as error:
        raise unreadable(str(path), "it is no file that was written here, or part of one") from error
    if of != key or not state.endswith(END):
        raise unreadable(str(path), "it was cut off" if of == key else "it is of another key")
    return found, state.removesuffix(END)


def _keys_of(session: Path) -> list[SnapshotKey]:
    return [key for path in _inside(session, "*.json") if (key := _key_of(path)) is not None]


def _key_of(path: Path) -> SnapshotKey | None:
    """The key that a file says it is of; its state is not read."""
    try:
        with path.open("rb") as file:
            head = file.read(HEAD_BYTES_MAX).partition(STATE)[0]
    except FileNotFoundError:
        return None
    try:
        return SnapshotKey.of_parts(json.loads(head + b"}")["key"])
    except (ValueError, TypeError, KeyError):
        return None


def _file(key: SnapshotKey, head: Head, payload: bytes) -> bytes:
    said = {"as_of_seq": head.as_of_seq, "key": list(key.parts), "sha256": head.sha256, "version": head.version}
    return encode(said)[:-1] + STATE + payload + END


def _replace(path: Path, content: bytes, root: Path) -> None:
    """The whole file or the old one, on the disk when this returns, with the folders up to the root.

    Those are brought there with a folder's first file, whoever made them: he may have died before he did it.
    """
    is_first = not path.exists()
    new = path.with_name(f".{path.name}.new")  # one that a killed writer left is written over: the folder is locked
    with os.fdopen(os.open(new, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "wb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())
    new.replace(path)
    folder = path.parent
    _sync(folder)
    while is_first and folder != root:
        folder = folder.parent
        _sync(folder)


def _unlink(path: Path) -> bool:
    try:
        path.unlink()
    except FileNotFoundError:
        return False
    _sync(path.parent)
    return True


def _sync(folder: Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _marker(folder: Path) -> Path:
    return folder / "deleted"
