"""`turnwright demo`: an agent at work, killed half-way and carried to its end. It needs the source checkout."""

import os
import sys
from pathlib import Path

import typer

from turnwright.client.cli.screen import Screen
from turnwright.journal.errors import InvalidInput
from turnwright.worker.commands.ending import told
from turnwright.worker.invocation import Invocation

CHECKOUT = Path(__file__).resolve().parents[2]


def register(app: typer.Typer, invocation: Invocation) -> None:  # noqa: ARG001 - as every command's
    """Add the command."""

    @app.command(context_settings={"allow_extra_args": True, "ignore_unknown_options": True})
    def demo(context: typer.Context) -> None:
        """Show what survives: workers killed, Temporal emptied, checkpoints deleted. Further arguments are its own."""
        with told(Screen(as_json=False)):
            run_demo(CHECKOUT, context.args)


def run_demo(checkout: Path, arguments: list[str]) -> None:
    """Become the demo."""
    if not (checkout / "examples" / "demo" / "__main__.py").is_file():
        raise InvalidInput(
            "the demo comes with the source: clone the repository and call `make demo`; `turnwright dev` works anywhere"
        )
    os.chdir(checkout)
    os.execv(sys.executable, [sys.executable, "-m", "examples.demo", *arguments])  # noqa: S606 - no shell
