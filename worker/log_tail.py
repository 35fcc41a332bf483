"""Follows the log files of child processes, so that one terminal shows all of them."""

from collections.abc import Callable
from pathlib import Path

from turnwright.worker.actor import Looper

POLL_S = 0.1
READ_BYTES_MAX = 1_000_000


class LogTail(Looper):
    """Gives every new whole line of a file to `show`, with the file's label."""

    def __init__(self, label: str, path: Path, show: Callable[[str, str], None]) -> None:
        super().__init__(f"log of {label}", POLL_S)
        self._label = label
        self._path = path
        self._show = show
        self._offset = path.stat().st_size if path.exists() else 0
        self._rest = b""

    async def round(self) -> None:
        """Show what was written since."""
        if not self._path.exists():
            return
        with self._path.open("rb") as file:
            if file.seek(0, 2) < self._offset:  # a new file under the old name
                self._offset, self._rest = 0, b""
            file.seek(self._offset)
            read = file.read(READ_BYTES_MAX)
        self._offset += len(read)
        *lines, self._rest = (self._rest + read).split(b"\n")
        for line in lines:
            self._show(self._label, line.decode(errors="replace"))

    async def end(self) -> None:
        """Show what is left."""
        await self.round()
