"""What was promised and what was seen: the table at the end, and the exit code.

Rule: a promise nobody saw kept is broken. A scene that fails half-way leaves its other promises so.
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass

from rich.table import Table
from rich.text import Text


@dataclass(frozen=True, slots=True)
class Row:
    """One promise."""

    scene: str
    promised: str
    seen: str
    ok: bool


class Board:
    """All promises, in the order in which they were looked at."""

    def __init__(self) -> None:
        self.rows: list[Row] = []

    def saw(self, scene: str, promised: str, seen: str, *, ok: bool) -> Row:
        """Record what was seen of a promise."""
        row = Row(scene, promised, seen, ok)
        self.rows.append(row)
        return row

    def give_up(self, scene: str, promises: tuple[str, ...], why: str) -> None:
        """Record the promises of a scene that were not looked at any more."""
        looked_at = {row.promised for row in self.rows if row.scene == scene}
        for promised in promises:
            if promised not in looked_at:
                self.saw(scene, promised, why, ok=False)

    @property
    def kept(self) -> bool:
        """Whether every promise was kept; without any, nothing was proven."""
        return bool(self.rows) and all(row.ok for row in self.rows)

    def json_lines(self) -> list[str]:
        """Promised and seen, for a program: an object for each promise."""
        return [json.dumps(asdict(row), ensure_ascii=False) for row in self.rows]

    def table(self) -> Table:
        """Promised and seen."""
        table = Table(show_lines=True, title="Promised and seen", title_justify="left", title_style="bold")
        table.add_column("promised", ratio=5)
        table.add_column("seen", ratio=6)
        table.add_column("ok", width=3)
        for row in self.rows:
            mark = Text("yes", style="bold green") if row.ok else Text("NO", style="bold red")
            table.add_row(Text(row.promised), Text(row.seen), mark)
        return table
