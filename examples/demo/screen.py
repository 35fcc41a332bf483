"""What a person sees while the demonstration runs: lines in a terminal or a file, and a spinner only in a terminal.

Rule: where a program reads the results, standard output is the program's, and people read standard error.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager

from rich.console import Console, RenderableType
from rich.text import Text

PIPED_COLUMNS = 150
WHO_CHARACTERS = 17


class Screen:
    """The terminal, with the seconds since the beginning before each line."""

    def __init__(self, *, as_json: bool = False) -> None:
        self.as_json = as_json
        self._console = Console(highlight=False, stderr=as_json)
        if not self._console.is_terminal:
            self._console.width = PIPED_COLUMNS
        self._began_s = time.monotonic()

    @property
    def elapsed_s(self) -> float:
        """How long the demonstration has run."""
        return time.monotonic() - self._began_s

    def scene(self, number: int, title: str) -> None:
        """A headline."""
        self._console.print()
        self._console.rule(Text(f"{number}  {title}", style="bold"), align="left", style="dim")

    def say(self, text: str, style: str = "") -> None:
        """What the demonstration does or finds."""
        self._line("", text, style)

    def tell(self, who: str, text: str, style: str = "dim") -> None:
        """What a turn does, from its journal."""
        self._line(f"{who:<{WHO_CHARACTERS}} ", text, style)

    def show(self, what: RenderableType) -> None:
        """Anything rich can draw."""
        self._console.print(what)

    @contextmanager
    def waiting(self, text: str) -> Iterator[None]:
        """Show what is waited for while the block runs."""
        if not self._console.is_terminal:
            yield
            return
        with self._console.status(Text(text, style="cyan")):
            yield

    def _line(self, who: str, text: str, style: str) -> None:
        at = Text(f"{self.elapsed_s:6.1f}s  ", style="dim")
        self._console.print(at + Text(who, style="cyan") + Text(text, style=style), soft_wrap=True)
