"""What a command shows: lines and tables for people, JSON for programs, notes and errors beside them.

Rule: results go to standard output, everything else to standard error, so that a result can be piped. Text of
others is shown without its control characters: a terminal would carry them out.
"""

from __future__ import annotations

import json
import sys
import unicodedata
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from rich.console import Console
from rich.table import Table
from rich.text import Text

from turnwright.journal.acts import Act
from turnwright.journal.durations import SECOND_US

PIPED_COLUMNS = 200
_KEPT = frozenset("\n\t")
_CONTROL = frozenset({"Cc", "Cf", "Cs"})
_JOINERS = frozenset("\u200c\u200d")


def harmless(text: str) -> str:
    """The text without what a terminal would obey: escape sequences, and marks that turn the direction."""
    return "".join(
        c if c in _KEPT or c in _JOINERS or unicodedata.category(c) not in _CONTROL else "\ufffd" for c in text
    )


def local(at_us: int | None, now: datetime | None = None) -> str:
    """A time of the store in this machine's zone, which it names; without the date when it is of today."""
    if at_us is None:
        return ""
    at = datetime.fromtimestamp(at_us / SECOND_US).astimezone()
    today = (now or datetime.now().astimezone()).date()
    return f"{at:%H:%M:%S %Z}" if at.date() == today else f"{at:%Y-%m-%d %H:%M:%S %Z}"


def act_words(act: Act) -> str:
    """Who did it, when and why: `by ann at 14:03:22 CET, because: stocktaking`."""
    by = f"by {act.principal} at" if act.principal else "at"
    return f"{by} {local(act.at_us)}{', because: ' if act.reason else ''}{act.reason or ''}"


class Screen:
    """Standard output and standard error of one command."""

    def __init__(self, *, as_json: bool) -> None:
        self.as_json = as_json
        self._out = _console(stderr=False)
        self._err = _console(stderr=True)
        self._noted: set[str] = set()

    def json(self, value: Mapping[str, Any]) -> None:
        """One JSON object on one line."""
        sys.stdout.write(json.dumps(value, ensure_ascii=False) + "\n")
        sys.stdout.flush()

    def show(self, value: Mapping[str, Any], line: str) -> None:
        """The value to programs, the line to people."""
        if self.as_json:
            self.json(value)
        else:
            self.line(line)

    def line(self, text: str, style: str = "") -> None:
        """A line of the result."""
        self._out.print(Text(harmless(text), style=style), soft_wrap=True)

    def marked(self, parts: Sequence[tuple[str, str]]) -> None:
        """A line of the result, in parts that each have a style; it stays one line whatever is in them."""
        pieces = [(harmless(" ".join(text.splitlines())), style) for text, style in parts]
        self._out.print(Text.assemble(*pieces), soft_wrap=True)

    def facts(self, facts: Sequence[tuple[str, str]]) -> None:
        """Names and values, one pair a line; those without a value are left out."""
        width = max(len(name) for name, _ in facts)
        for name, value in facts:
            if value:
                self._out.print(Text(f"{name:<{width}}  ", style="dim") + Text(harmless(value)), soft_wrap=True)

    def table(self, columns: Sequence[str], rows: Sequence[Sequence[str]], none: str) -> None:
        """A table, or the sentence for an empty one."""
        if not rows:
            self.note(none)
            return
        table = Table(box=None, pad_edge=False, header_style="dim")
        for column in columns:
            table.add_column(column, overflow="fold")
        for row in rows:
            table.add_row(*(Text(harmless(cell)) for cell in row))
        self._out.print(table)

    def note_once(self, text: str) -> None:
        """A note, unless it was shown already."""
        if text not in self._noted:
            self._noted.add(text)
            self.note(text)

    def note(self, text: str) -> None:
        """Something beside the result."""
        self._err.print(Text(harmless(text), style="dim"), soft_wrap=True)

    def error(self, code: str, text: str) -> None:
        """What went wrong, on one line."""
        line = " ".join(text.split())
        if self.as_json:
            sys.stderr.write(json.dumps({"error": {"code": code, "message": line}}, ensure_ascii=False) + "\n")
        else:
            self._err.print(Text("error: ", style="bold red") + Text(harmless(line)), soft_wrap=True)


def _console(*, stderr: bool) -> Console:
    console = Console(stderr=stderr, highlight=False)
    if not console.is_terminal:
        console.width = PIPED_COLUMNS
    return console
