"""The folder `.turnwright/` of `turnwright dev`: one dev at a time, and where it can be found.

Rule: a lock says whether a dev runs, since the kernel frees it with the process; the file beside it says where.
What the file says counts only while the lock is held, and it says no password.
"""

import fcntl
import json
import os
import time
from dataclasses import asdict, dataclass
from pathlib import Path
from urllib.parse import parse_qsl, urlencode, urlsplit

from turnwright.journal.errors import TurnwrightError
from turnwright.journal.sqlite.locks import open_lock, try_lock

FOLDER = Path(".turnwright")
LOCK_TRIES = 50
LOCK_RETRY_S = 0.002


class DevFailed(TurnwrightError):
    """Something of dev did not start; the message says what it said."""


class DevRunning(TurnwrightError):
    """Another dev has the folder."""


@dataclass(frozen=True, slots=True)
class DevInfo:
    """Where a running dev is found; `journal` is the journal's URL without its password.

    With a gateway, `key_file` holds the token of an administrator.
    """

    pid: int
    journal: str
    temporal_address: str
    ui_url: str
    gateway_url: str | None = None
    key_file: str | None = None


class DevPlace:
    """The folder, and this process's lock on it."""

    def __init__(self, folder: Path = FOLDER) -> None:
        self.folder = folder
        self._descriptor: int | None = None

    def take(self) -> None:
        """Make the folder, for its owner alone, and lock it: the journal holds conversations and webhooks' secrets.

        Raises:
            DevRunning: another dev has it; says where.
        """
        self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        (self.folder / ".gitignore").write_text("*\n", encoding="utf-8")
        descriptor = open_lock(self.folder / "dev.lock")
        if not _locked(descriptor):
            os.close(descriptor)
            raise DevRunning(_who(self._read()))
        self._descriptor = descriptor
        self._info_file.unlink(missing_ok=True)

    def tell(self, info: DevInfo) -> None:
        """Let others find this dev."""
        new = self.folder / "dev.json.new"
        new.write_text(json.dumps(asdict(info)), encoding="utf-8")
        new.replace(self._info_file)

    def release(self) -> None:
        """Give the folder back."""
        if self._descriptor is not None:
            self._info_file.unlink(missing_ok=True)
            os.close(self._descriptor)
            self._descriptor = None

    def running(self) -> DevInfo | None:
        """Where the dev of this folder is found, if one runs."""
        lock = self.folder / "dev.lock"
        if not lock.exists():
            return None
        descriptor = open_lock(lock)
        try:
            # Shared, so that two who ask at once do not take each other for a dev.
            return None if try_lock(descriptor, fcntl.LOCK_SH) else self._read()
        finally:
            os.close(descriptor)

    @property
    def _info_file(self) -> Path:
        return self.folder / "dev.json"

    def _read(self) -> DevInfo | None:
        try:
            return DevInfo(**json.loads(self._info_file.read_text(encoding="utf-8")))
        except (OSError, ValueError, TypeError):
            return None


def without_password(url: str) -> str:
    """A journal's URL as it may be shown and stored."""
    parts = urlsplit(url)
    if parts.scheme == "sqlite":
        return url
    credentials, at, place = parts.netloc.rpartition("@")
    query = urlencode([(name, value) for name, value in parse_qsl(parts.query) if not name.endswith("password")])
    return f"{parts.scheme}://{credentials.partition(':')[0]}{at}{place}{parts.path}{query and f'?{query}'}"


def _locked(descriptor: int) -> bool:
    """Take the lock; who asks whether a dev runs holds it for a moment, hence the tries."""
    for _ in range(LOCK_TRIES):
        if try_lock(descriptor):
            return True
        time.sleep(LOCK_RETRY_S)
    return False


def _who(info: DevInfo | None) -> str:
    if info is None:
        return "turnwright dev is starting or stopping in this folder; wait for it, or work in another folder"
    return (
        f"turnwright dev runs in this folder already (process {info.pid}, {info.ui_url}); "
        "use it, or end it with Ctrl-C in its terminal"
    )
