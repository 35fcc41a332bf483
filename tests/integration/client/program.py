"""The client's commands as a program of their own: `python -m tests.integration.client.program JOURNAL_URL …`."""

import sys

import typer

from turnwright.client import ClientSettings
from turnwright.client.cli import register
from turnwright.client.cli.usage import Commands

NOBODY_THERE = "127.0.0.1:9"  # the discard port: refused at once


def application(journal_url: str) -> typer.Typer:
    """The commands on that journal, with no Temporal to be told."""
    app = typer.Typer(cls=Commands, pretty_exceptions_enable=False)
    settings = ClientSettings(journal_url=journal_url, tenant="acme", temporal_address=NOBODY_THERE)
    register(app, lambda: settings)
    return app


if __name__ == "__main__":
    application(sys.argv.pop(1))()
