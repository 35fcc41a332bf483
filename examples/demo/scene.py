"""A scene: what it promises, and how it is played.

Rule: scenes use threads of their own, so that one that fails says nothing about the others.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Protocol

from examples.demo.stage import Stage

SCENE_TIMEOUT_S = 150.0


class Saw(Protocol):
    """Says what was seen of a promise."""

    def __call__(self, promised: str, seen: str, *, ok: bool) -> None:
        """Record it."""
        ...


@dataclass(frozen=True, slots=True)
class Scene:
    """One part of the demonstration."""

    title: str
    promises: tuple[str, ...]
    play: Callable[[Stage, Saw], Awaitable[None]]

    async def perform(self, stage: Stage) -> None:
        """Play it; whatever goes wrong breaks its promises and not the demonstration."""

        def saw(promised: str, seen: str, *, ok: bool) -> None:
            assert promised in self.promises, promised
            row = stage.board.saw(self.title, promised, seen, ok=ok)
            stage.screen.say(f"{'kept' if ok else 'BROKEN'}: {promised}", "green" if row.ok else "bold red")

        try:
            async with asyncio.timeout(SCENE_TIMEOUT_S):
                await stage.full_crew()
                await self.play(stage, saw)
        except Exception as error:  # noqa: BLE001 - it is shown, and the table says NO
            why = f"{type(error).__name__}: {error}".removesuffix(": ")
            stage.screen.say(f"the scene broke off: {why}", "bold red")
            stage.board.give_up(self.title, self.promises, f"broke off: {why}")
        stage.board.give_up(self.title, self.promises, "was not looked at")
