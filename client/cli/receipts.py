"""What became of a command about a turn."""

from __future__ import annotations

from turnwright.client.cli import plain
from turnwright.client.cli.screen import Screen
from turnwright.client.turn import Turn
from turnwright.journal.commands import Receipt


async def tell_receipt(turn: Turn, receipt: Receipt, screen: Screen) -> None:
    """Show an accepted command's receipt, and people where the turn stands now."""
    if screen.as_json:
        screen.json(plain.receipt(receipt))
    else:
        view = await turn.status()
        screen.line(f"accepted; turn {turn.id} is {view.status} (revision {view.revision})")
