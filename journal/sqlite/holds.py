"""Presences and leads as locked files: `presence.<id>` and `lead.<name>` in the folder of locks.

Rule: the lock says whether the holder lives, since the kernel frees it when the process dies; the beat in
the file says whether it moves. The beat is read from the boot clock, which all processes of a machine
share and which goes on during sleep. A lock that can be had is a death that is proven.
"""

import fcntl
import json
import os
import time
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any

from turnwright.journal.driver import HOLD_NAME, Presence, checked_hold_name
from turnwright.journal.errors import HoldLost, StoreError, StoreUnavailable
from turnwright.journal.script import Liveness
from turnwright.journal.sqlite.locks import open_lock, try_lock

DEAD_KEPT_S = 86_400.0
LOCK_TRIES = 50
LOCK_RETRY_S = 0.002
INFO_ROOM_BYTES = 64
READ_TRIES = 3
_BOOT_CLOCK = getattr(time, "CLOCK_BOOTTIME", time.CLOCK_MONOTONIC)
_BEAT = b"%020.6f %012.3f\n"
_BEAT_BYTES = 34


class FileHold:
    """A lock held by this process (see `turnwright.journal.driver.Hold`)."""

    def __init__(self, name: str, path: Path, descriptor: int, lease_s: float) -> None:
        self._name = name
        self._path = path
        self._descriptor = descriptor
        self._lease_s = lease_s
        self._lost = False

    @property
    def name(self) -> str:
        """The presence id, or what is led."""
        return self._name

    @property
    def lost(self) -> bool:
        """True once it was released, or its file was removed by hand."""
        return self._lost

    async def beat(self, info: Mapping[str, Any] | None = None) -> None:
        """Write the time; a file that is no longer in its place is a lock that nobody sees."""
        if self._lost or not _in_place(self._path, self._descriptor):
            self._lost = True
            raise HoldLost(f"the lock {self._path} is gone; take it again")
        write_beat(self._descriptor, self._lease_s)
        if info is not None:
            _write_info(self._descriptor, info)

    async def release(self) -> None:
        """Remove the file, then free the lock: nobody can find it free and still there."""
        if self._descriptor < 0:
            return
        if _in_place(self._path, self._descriptor):
            self._path.unlink(missing_ok=True)
        os.close(self._descriptor)
        self._descriptor = -1
        self._lost = True


class Holds:
    """The folder of locks, and what this process holds there."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._held: list[FileHold] = []

    def hold_presence(self, presence_id: str, info: Mapping[str, Any], lease_s: float) -> FileHold:
        """Take a new id; clears away files of the long dead."""
        self._clear_dead()
        hold = self._take("presence", presence_id, info, lease_s)
        if hold is None:
            raise StoreError(f"presence {presence_id!r} is held already; use an id that nobody used before")
        return hold

    def try_lead(self, name: str, lease_s: float) -> FileHold | None:
        """Take the lead, or None."""
        return self._take("lead", name, {"pid": os.getpid()}, lease_s)

    def liveness(self, presences: Collection[str]) -> Mapping[str, Liveness]:
        """Who of these lives."""
        return {presence: self._liveness("presence", presence) for presence in presences}

    def leader(self, name: str) -> Liveness:
        """How whoever leads is doing."""
        return self._liveness("lead", name)

    def presences(self, *, info: bool = True) -> list[Presence]:
        """All that have a file."""
        found = []
        for path in sorted(self._folder.glob("presence.*")):
            presence_id = path.name.removeprefix("presence.")
            told = _read_info(path) if info else {}
            if told is not None:
                found.append(Presence(presence_id, told, self._liveness("presence", presence_id)))
        return found

    async def release(self) -> None:
        """Free everything."""
        for hold in self._held:
            await hold.release()
        self._held.clear()

    def _take(self, kind: str, name: str, info: Mapping[str, Any], lease_s: float) -> FileHold | None:
        path = self._folder / f"{kind}.{checked_hold_name(name)}"
        try:
            descriptor = _lock_in_place(path)
            if descriptor is None:
                return None
            _introduce(path, descriptor, info, lease_s)
        except OSError as error:
            raise StoreUnavailable(
                f"{path} cannot be written ({error}); check the disk (space, health, mount)"
            ) from error
        hold = FileHold(name, path, descriptor, lease_s)
        self._held = [*(other for other in self._held if not other.lost), hold]
        return hold

    def _liveness(self, kind: str, name: str) -> Liveness:
        if not HOLD_NAME.fullmatch(name):
            return Liveness("dead")
        try:
            descriptor = os.open(self._folder / f"{kind}.{name}", os.O_RDONLY | os.O_CLOEXEC)
        except FileNotFoundError:
            return Liveness("dead")
        try:
            if try_lock(descriptor, fcntl.LOCK_SH):
                return Liveness("dead", _beat_age_s(descriptor)[0])
            age_s, lease_s = _beat_age_s(descriptor)
        finally:
            os.close(descriptor)
        return Liveness("lapsed" if age_s is not None and age_s > lease_s else "alive", age_s)

    def _clear_dead(self) -> None:
        for path in self._folder.glob("presence.*"):
            liveness = self._liveness("presence", path.name.removeprefix("presence."))
            if liveness.state == "dead" and not (liveness.beat_age_s or 0) < DEAD_KEPT_S:
                path.unlink(missing_ok=True)


def write_beat(descriptor: int, lease_s: float) -> None:
    """One short write of fixed width, so that a reader never sees half of it."""
    os.pwrite(descriptor, _BEAT % (time.clock_gettime(_BOOT_CLOCK), lease_s), 0)


def _write_info(descriptor: int, info: Mapping[str, Any], room: int = 0) -> None:
    """Never shorter than before, in one write, and only the end differs: a reader meets one of both.

    `room`: for so much more, so that a full disk keeps nobody from telling it.
    """
    length = max(0, os.fstat(descriptor).st_size - _BEAT_BYTES)
    text = json.dumps(dict(info)).encode()
    os.pwrite(descriptor, text.ljust(max(length, len(text) + room)), _BEAT_BYTES)


def _introduce(path: Path, descriptor: int, info: Mapping[str, Any], lease_s: float) -> None:
    """Write into a locked file who holds it; where that cannot be done, it is not held."""
    try:
        os.ftruncate(descriptor, 0)
        _write_info(descriptor, info, room=INFO_ROOM_BYTES)
        write_beat(descriptor, lease_s)
    except OSError:
        path.unlink(missing_ok=True)
        os.close(descriptor)
        raise


def _lock_in_place(path: Path) -> int | None:
    """Lock the file of that name; who asks about it holds it for a moment, hence the tries."""
    for _ in range(LOCK_TRIES):
        descriptor = open_lock(path)
        if try_lock(descriptor) and _in_place(path, descriptor):
            return descriptor
        os.close(descriptor)
        if _is_held(path):
            return None
        time.sleep(LOCK_RETRY_S)
    return None


def _is_held(path: Path) -> bool:
    """Whether somebody holds it, and not only asks about it."""
    descriptor = open_lock(path)
    try:
        return not try_lock(descriptor, fcntl.LOCK_SH)
    finally:
        os.close(descriptor)


def _in_place(path: Path, descriptor: int) -> bool:
    try:
        return os.path.samestat(path.stat(), os.fstat(descriptor))
    except FileNotFoundError:
        return False


def _beat_age_s(descriptor: int) -> tuple[float | None, float]:
    """Age of the beat and the lease; before the first beat there is none yet."""
    text = os.pread(descriptor, _BEAT_BYTES, 0).split()
    if len(text) < 2:  # noqa: PLR2004 - beat and lease
        return None, 0.0
    return max(0.0, time.clock_gettime(_BOOT_CLOCK) - float(text[0])), float(text[1])


def _read_info(path: Path) -> Mapping[str, Any] | None:
    for _ in range(READ_TRIES):
        try:
            info = path.read_bytes()[_BEAT_BYTES:]
            return dict(json.loads(info)) if info else {}
        except FileNotFoundError:
            return None
        except ValueError:  # it is being written
            continue
    return None
