"""What every part is given."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Bench:
    """A folder on a real disk, and whether the run is to be short."""

    folder: Path
    quick: bool = False

    def rounds(self, full: int) -> int:
        """So many rounds, or a quarter of them (at least two) in a quick run."""
        return max(2, full // 4) if self.quick else full
