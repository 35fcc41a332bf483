"""Following a turn to its end: entries as they come, then the answer.

Rule: for people the entries are progress and go to standard error, only the answer is the result. For programs
each entry is a line and the turn with its answer is the last one.
"""

from __future__ import annotations

import asyncio

from turnwright.client.cli import plain, telling
from turnwright.client.cli.screen import Screen
from turnwright.client.errors import WaitTimeout
from turnwright.client.turn import Turn


async def follow(turn: Turn, screen: Screen, timeout_s: float | None) -> None:
    """Show the turn's entries and its answer.

    Raises:
        TurnFailed: it failed, TurnCancelled: it was cancelled; after its entries were shown.
        WaitTimeout: the time is over; the turn goes on.
    """
    clock = asyncio.timeout(timeout_s)
    try:
        async with clock:
            async for entry in turn.events():
                if screen.as_json:
                    screen.json({"entry": plain.entry(entry)})
                else:
                    screen.note(telling.tell(entry))
    except TimeoutError:
        if not clock.expired():
            raise
        raise WaitTimeout(
            f"turn {turn.id} has not ended in {timeout_s:g} s; it goes on (`turnwright turn wait {turn.id}`)"
        ) from None
    await answer(turn, screen)


async def answer(turn: Turn, screen: Screen, timeout_s: float | None = None) -> None:
    """Wait for the turn's end and show its answer; raises as `follow`."""
    if screen.as_json:
        view = await turn.wait(timeout_s)
        said = (await turn.result()).model_dump(mode="json") if view.phase == "completed" else None
        screen.json({"turn": plain.turn_view(view), "answer": said})
    message = await turn.result(timeout_s)
    if not screen.as_json:
        screen.line(telling.said(message.blocks))
