"""Following a turn to its end: entries as they come, then the answer.

Rule: for people the entries are progress and go to standard error, only the answer is the result. For programs
each entry is a line and the turn with its answer is the last one. While nothing comes, a note says what is waited for:
who follows a turn that no worker serves saw nothing at all, and no reason.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from turnwright.client.cli import plain, telling
from turnwright.client.cli.screen import Screen
from turnwright.client.cli.turn_facts import why_words
from turnwright.client.errors import WaitTimeout
from turnwright.client.turn import Turn
from turnwright.journal.errors import JournalError
from turnwright.journal.why import Code

LOOK_INTERVAL_S = 2.0
STANDSTILLS: frozenset[Code] = frozenset({
    "agent_unknown", "behind", "busy", "no_worker", "older_workers", "paused", "stalled", "temporal_away",
    "tool_unknown", "unreadable", "waiting", "worker_lost",
})  # fmt: skip


async def follow(turn: Turn, screen: Screen, timeout_s: float | None) -> None:
    """Show the turn's entries and its answer.

    Raises:
        TurnFailed: it failed, TurnCancelled: it was cancelled; after its entries were shown.
        WaitTimeout: the time is over; the turn goes on.
    """
    clock = asyncio.timeout(timeout_s)
    try:
        async with clock, _noting_standstill(turn, screen):
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


@asynccontextmanager
async def _noting_standstill(turn: Turn, screen: Screen) -> AsyncIterator[None]:
    noting = asyncio.create_task(_note_standstill(turn, screen))
    try:
        yield
    finally:
        noting.cancel()
        await asyncio.gather(noting, return_exceptions=True)  # what went wrong, the reader of entries meets too


async def _note_standstill(turn: Turn, screen: Screen) -> None:
    """Say what is waited for, where that does not end by itself; once, until it is something else."""
    said = ""
    while True:
        await asyncio.sleep(LOOK_INTERVAL_S)
        try:
            told = await turn.why()
        except JournalError:
            continue  # it may pass, and what does not the reader of entries meets
        if told.code in STANDSTILLS and told.code != said:
            screen.note(f"{why_words(told)} The turn is saved, whether or not somebody follows it.")
        said = told.code


async def answer(turn: Turn, screen: Screen, timeout_s: float | None = None) -> None:
    """Wait for the turn's end and show its answer; raises as `follow`."""
    if screen.as_json:
        view = await turn.wait(timeout_s)
        said = (await turn.result()).model_dump(mode="json") if view.phase == "completed" else None
        screen.json({"turn": plain.turn_view(view), "answer": said})
    message = await turn.result(timeout_s)
    if not screen.as_json:
        screen.line(telling.said(message.blocks))
