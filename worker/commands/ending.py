"""How these commands end: what went wrong is one line and an exit code, as for the client's commands."""

from collections.abc import Iterator
from contextlib import contextmanager

import typer

from turnwright.client.cli.running import INTERRUPTED, REFUSED, UNAVAILABLE, USAGE, hang_up
from turnwright.client.cli.screen import Screen
from turnwright.journal.errors import CommandRejected, InvalidInput, JournalError, TurnwrightError
from turnwright.worker.settings import SettingsError
from turnwright.worker.temporal_command import TemporalServerError

_EXITS: tuple[tuple[type[Exception], int, str], ...] = (
    (SettingsError, USAGE, "settings"),
    (InvalidInput, USAGE, "invalid_input"),
    (JournalError, UNAVAILABLE, "store_error"),
    (TemporalServerError, UNAVAILABLE, "temporal"),
    (CommandRejected, REFUSED, "rejected"),
    (TurnwrightError, UNAVAILABLE, "failed"),
    (OSError, UNAVAILABLE, "system_error"),
)
_CAUGHT = tuple(kind for kind, _, _ in _EXITS)


@contextmanager
def told(screen: Screen) -> Iterator[None]:
    """Tell what goes wrong in the block, and exit with its code."""
    try:
        yield
    except BrokenPipeError:
        hang_up()
        raise typer.Exit from None
    except KeyboardInterrupt:
        screen.note("stopped")
        raise typer.Exit(INTERRUPTED) from None
    except _CAUGHT as error:
        exit_code, code = next((exit_code, code) for kind, exit_code, code in _EXITS if isinstance(error, kind))
        screen.error(getattr(error, "code", None) or code, str(error) or type(error).__name__)
        if not screen.as_json:
            for note in getattr(error, "__notes__", ()):
                screen.note(note)
        raise typer.Exit(exit_code) from None
