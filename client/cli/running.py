"""How a command runs: connect, do it, tell, and make of whatever went wrong one line and an exit code.

Rule: a command itself neither catches nor exits; this table decides.
"""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import Awaitable, Callable

import typer

from turnwright.client.cli.hints import add_hint
from turnwright.client.cli.screen import Screen
from turnwright.client.client import Client
from turnwright.client.errors import NotFound, TurnEnded, TurnFailed, WaitTimeout
from turnwright.client.quiet import quiet_logs
from turnwright.client.settings import ClientSettings
from turnwright.journal.errors import CommandRejected, JournalError, StoreUnavailable

REFUSED, USAGE, UNAVAILABLE, TIMED_OUT, INTERRUPTED = 1, 2, 3, 4, 130

_EXITS: tuple[tuple[type[BaseException], int, str], ...] = (
    (WaitTimeout, TIMED_OUT, "timeout"),
    (CommandRejected, REFUSED, "rejected"),
    (NotFound, REFUSED, "not_found"),
    (TurnFailed, REFUSED, "turn_failed"),
    (TurnEnded, REFUSED, "turn_cancelled"),
    (StoreUnavailable, UNAVAILABLE, "store_unavailable"),
    (JournalError, UNAVAILABLE, "store_error"),
    (OSError, UNAVAILABLE, "system_error"),
    (ValueError, USAGE, "invalid_input"),
)

_FINDING = {
    "turn": "turns",
    "session": "session list",
    "thread": "session show",
    "question": "approvals list",
    "schedule": "schedule list",
}

Command = Callable[[Client, Screen], Awaitable[None]]


class Runner:
    """Runs commands with the settings that are found when one is called."""

    def __init__(self, settings: Callable[[], ClientSettings]) -> None:
        self._settings = settings

    def run(self, command: Command, *, as_json: bool) -> None:
        """Run a command to its end, and exit with its code if it is not 0."""
        screen = Screen(as_json=as_json)
        try:
            quiet_logs("error")  # beside the result
            asyncio.run(self._connected(command, screen))
        except BrokenPipeError:
            hang_up()
        except KeyboardInterrupt:
            screen.note("stopped; what was accepted goes on")
            raise typer.Exit(INTERRUPTED) from None
        except (CommandRejected, NotFound, TurnEnded, JournalError, OSError, ValueError) as error:
            raise typer.Exit(tell(error, screen)) from None

    async def _connected(self, command: Command, screen: Screen) -> None:
        async with Client.connect(self._settings()) as client:
            try:
                await command(client, screen)
            except (CommandRejected, NotFound) as error:
                await add_hint(error, client)
                raise
            await flush(client, screen)


async def flush(client: Client, screen: Screen) -> None:
    """Wait for the wake-ups of accepted commands, and say once if they could not be sent."""
    failure = await client.flush()
    if failure is not None:
        screen.note_once(f"Temporal was not told ({failure}); a worker finds it by itself a little later")


def hang_up() -> None:
    """Who reads the output has seen enough: nothing more may be written, at exit neither."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def tell(error: BaseException, screen: Screen) -> int:
    """Show the error; its exit code."""
    exit_code, code = next((exit_code, code) for kind, exit_code, code in _EXITS if isinstance(error, kind))
    said = [str(error) or type(error).__name__, *getattr(error, "__notes__", ())]
    if isinstance(error, NotFound) and error.what in _FINDING:
        said.append(f"see `turnwright {_FINDING[error.what]}`")
    screen.error(getattr(error, "code", None) or code, "; ".join(said))
    return exit_code
