"""`turnwright demo`: an agent at work, killed half-way and carried to its end. It needs the source checkout."""

import os
import sys
from pathlib import Path

import typer

from turnwright.client.cli.options import Json
from turnwright.client.cli.screen import Screen
from turnwright.journal.errors import InvalidInput
from turnwright.worker.commands.ending import told
from turnwright.worker.invocation import Invocation

CHECKOUT = Path(__file__).resolve().parents[2]


def register(app: typer.Typer, invocation: Invocation) -> None:  # noqa: ARG001 - as every command's
    """Add the command."""

    @app.command()
    def demo(*, as_json: Json = False) -> None:
        """Show what survives: workers killed, Temporal emptied, checkpoints deleted."""
        with told(Screen(as_json=as_json)):
            run_demo(CHECKOUT, ["--json"] if as_json else [])


def run_demo(checkout: Path, arguments: list[str]) -> None:
    """Become the demo."""
    if not (checkout / "examples" / "demo" / "__main__.py").is_file():
        raise InvalidInput(
            "the demo comes with the source: clone the repository and call `make demo`; `turnwright dev` works anywhere"
        )
    os.chdir(checkout)
    os.execv(sys.executable, [sys.executable, "-m", "examples.demo", *arguments])  # noqa: S606 - no shell
