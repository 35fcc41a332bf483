"""A small disk of the test's own, which can be really full."""

import errno
import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

SIZE_BYTES = 4 * 1024 * 1024
PIECE = b"\0" * 4096


class Disk:
    """Mounted at `folder`; made by `mount_disk`."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._filler = folder / "filler"

    def fill(self) -> None:
        """Until nothing more goes onto it."""
        descriptor = os.open(self._filler, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
        try:
            while True:
                os.write(descriptor, PIECE)
        except OSError as error:
            assert error.errno == errno.ENOSPC, error  # noqa: PT017 - any other is a broken test
        finally:
            os.close(descriptor)

    def free(self) -> None:
        """Make room."""
        self._filler.unlink()


@contextmanager
def mount_disk(folder: Path) -> Iterator[Disk]:
    """The disk; the test is skipped where nobody may mount one."""
    folder.mkdir()
    mount = ("mount", "-t", "tmpfs", "-o", f"size={SIZE_BYTES}", "tmpfs", str(folder))
    try:
        mounted = subprocess.run(mount, capture_output=True, check=False).returncode == 0
    except FileNotFoundError:
        mounted = False
    if not mounted:
        pytest.skip("a disk of a few MB cannot be mounted here; root may, in a container with CAP_SYS_ADMIN")
    try:
        yield Disk(folder)
    finally:
        subprocess.run(("umount", "--lazy", str(folder)), check=True)
