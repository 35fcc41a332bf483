"""The wall clock of one process, wrong as a test wants it (libfaketime); its monotonic clocks stay as they are."""

from collections.abc import Mapping
from pathlib import Path

import pytest

PLACES = ("/usr/lib", "/usr/lib64", "/usr/local/lib", "/opt/homebrew/lib")
LIBRARY = "faketime/libfaketimeMT.so.1"


class WallClock:
    """Of the process that gets `surroundings`.

    Args:
        file: where to say how wrong it is.
        ahead_s: how wrong it is at first.
    """

    def __init__(self, file: Path, ahead_s: float) -> None:
        self._file = file
        self.set(ahead_s)

    def set(self, ahead_s: float) -> None:
        """From now on."""
        fresh = self._file.with_suffix(".fresh")
        fresh.write_text(f"{ahead_s:+g}\n", "utf-8")
        fresh.replace(self._file)

    @property
    def surroundings(self) -> Mapping[str, str]:
        """What the process finds in its environment."""
        return {
            "LD_PRELOAD": _library(),
            "FAKETIME_TIMESTAMP_FILE": str(self._file),
            "FAKETIME_CACHE_DURATION": "1",
            "FAKETIME_DONT_FAKE_MONOTONIC": "1",
        }


def _library() -> str:
    for place in PLACES:
        for found in (Path(place) / LIBRARY, *Path(place).glob(f"*/{LIBRARY}")):
            if found.exists():
                return str(found)
    pytest.skip("libfaketime is not here; on Debian `apt-get install faketime` brings it")
