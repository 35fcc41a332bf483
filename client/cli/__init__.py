"""The commands of the terminal that act for a client: each is a thin function over the Python client.

    register(app, lambda: ClientSettings(...))

Rule: nothing here decides anything. The settings are asked for when a command is called, so what they complain
about is told like any other error.
"""

from __future__ import annotations

from collections.abc import Callable

import typer

from turnwright.client.cli.approvals import ApprovalsCommands
from turnwright.client.cli.journal import JournalCommands
from turnwright.client.cli.keys import KeysCommands
from turnwright.client.cli.mcp import McpCommand
from turnwright.client.cli.moving import MovingCommands
from turnwright.client.cli.running import Runner
from turnwright.client.cli.schedules import ScheduleCommands
from turnwright.client.cli.search import SearchCommand
from turnwright.client.cli.session import SessionCommands
from turnwright.client.cli.session_admin import SessionAdminCommands
from turnwright.client.cli.submit import SubmitCommand
from turnwright.client.cli.thread import ThreadCommands
from turnwright.client.cli.thread_admin import ThreadAdminCommands
from turnwright.client.cli.thread_elsewhere import ThreadElsewhereCommands
from turnwright.client.cli.thread_forks import ThreadForkCommands
from turnwright.client.cli.thread_memory import ThreadMemoryCommands
from turnwright.client.cli.turn import TurnCommands
from turnwright.client.cli.turn_answers import TurnAnswerCommands
from turnwright.client.cli.turns import TurnsCommands
from turnwright.client.cli.webhooks import WebhooksCommands
from turnwright.client.settings import ClientSettings


def register(app: typer.Typer, settings_provider: Callable[[], ClientSettings]) -> None:
    """Add the client's commands to an application; a group it has already is added to."""
    runner = Runner(settings_provider)
    SubmitCommand(runner).add_to(app)
    McpCommand(runner).add_to(app)
    TurnsCommands(runner).add_to(app)
    MovingCommands(runner).add_to(app)
    turn = group(app, "turn", "One turn: look at it, control it, answer it, wait for it.")
    TurnCommands(runner).add_to(turn)
    TurnAnswerCommands(runner).add_to(turn)
    approvals = group(app, "approvals", "What people are asked, across all sessions, and their answers.")
    ApprovalsCommands(runner).add_to(approvals)
    threads = group(app, "thread", "One agent's thread in a session.")
    ThreadCommands(runner).add_to(threads)
    ThreadAdminCommands(runner).add_to(threads)
    ThreadMemoryCommands(runner).add_to(threads)
    ThreadElsewhereCommands(runner).add_to(threads)
    ThreadForkCommands(runner).add_to(threads)
    sessions = group(app, "session", "Sessions, and what is in them.")
    SessionCommands(runner).add_to(sessions)
    SessionAdminCommands(runner).add_to(sessions)
    SearchCommand(runner).add_to(sessions)
    schedules = group(app, "schedule", "Schedules: turns that a session is given again and again.")
    ScheduleCommands(runner).add_to(schedules)
    KeysCommands(runner).add_to(group(app, "keys", "API keys of the gateway: who may use it, and for what."))
    WebhooksCommands(runner).add_to(group(app, "webhooks", "Webhooks: where a gateway posts what is committed."))
    JournalCommands(runner).add_to(group(app, "journal", "The journal: what happened, and its upkeep."))


def group(app: typer.Typer, name: str, about: str) -> typer.Typer:
    """The application's group of that name, made if it has none."""
    for known in app.registered_groups:
        if known.name == name and known.typer_instance is not None:
            return known.typer_instance
    made = typer.Typer(help=about, no_args_is_help=True)
    app.add_typer(made, name=name)
    return made
