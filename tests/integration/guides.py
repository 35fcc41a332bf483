"""Runs the code of the guides as a reader would: block after block, in one place, with `await` at the top."""

import ast
import re
from collections.abc import Iterator
from inspect import isawaitable
from typing import Any

from tests.unit.source_tree import ROOT


class Guide:
    """The Python blocks of a guide, and the names they have made so far."""

    def __init__(self, name: str, **names: object) -> None:
        page = (ROOT / "docs" / "guides" / name).read_text(encoding="utf-8")
        self.blocks: list[str] = re.findall(r"^```python\n(.*?)^```", page, re.MULTILINE | re.DOTALL)
        self.names: dict[str, Any] = dict(names)
        self._name = name

    def block(self, words: str) -> str:
        """The one block with these words."""
        [found] = [block for block in self.blocks if words in block]
        return found

    async def run(self, source: str) -> None:
        """Run a block."""
        code = compile(source, self._name, "exec", flags=ast.PyCF_ALLOW_TOP_LEVEL_AWAIT)
        # With `await` in it, the block is a coroutine.
        ended = eval(code, self.names)  # noqa: S307 - our own page
        if isawaitable(ended):
            await ended

    def statements(self, words: str) -> Iterator[str]:
        """The statements of the one block with these words."""
        source = self.block(words)
        return (ast.get_source_segment(source, statement) or "" for statement in ast.parse(source).body)
