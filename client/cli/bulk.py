"""Commands on many things at once: what was found is shown, and nothing is done without `--yes`.

Rule: what is acted on is what was found, each by a command and with a receipt of its own. A rejected one does not stop
the others; the exit code tells.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import asdict
from typing import Annotated, Any, TypeVar

import typer

from turnwright.client.cli.screen import Screen
from turnwright.journal.commands import Receipt
from turnwright.journal.errors import CommandRejected

T = TypeVar("T")
Yes = Annotated[bool, typer.Option("--yes", "-y", help="Do it; without this, what was found is only shown.")]
All = Annotated[bool, typer.Option("--all", help="All there are; without a filter this must be said.")]
Most = Annotated[int, typer.Option("--limit", "-n", min=1, max=500, help="How many at most.")]
MOST = 500


async def act(
    items: Sequence[T], command: Callable[[T], Awaitable[Receipt]], name: Callable[[T], str], screen: Screen
) -> None:
    """Give the command about each, showing its receipt.

    Raises:
        CommandRejected: `partly_rejected`, when all were tried and some refused.
    """
    refused = 0
    for item in items:
        receipt = await command(item)
        refused += receipt.status == "rejected"
        _show(name(item), receipt, screen)
    if refused:
        raise CommandRejected("partly_rejected", f"{refused} of {len(items)} were rejected")


def nothing_done(verb: str, count: int, what: str, screen: Screen, *, more: bool) -> None:
    """Say that this was only a look at so many of `what`."""
    if count:
        which = f"this {what}" if count == 1 else f"these {count} {what}s"
        screen.note(f"nothing was done; --yes would {verb} {which}{' (more match)' if more else ''}")


def more_left(screen: Screen) -> None:
    """Say that not everything was looked at."""
    screen.note("more match; the same command goes on with them")


def _show(name: str, receipt: Receipt, screen: Screen) -> None:
    told: dict[str, Any] = {"id": name, "receipt": asdict(receipt)}
    if receipt.status == "rejected":
        screen.show(told, f"{name}  rejected ({receipt.code}): {receipt.reason}")
    else:
        screen.show(told, f"{name}  accepted{' (known already)' if receipt.duplicate else ''}")
