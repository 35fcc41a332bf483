"""`turnwright dev`: everything in one terminal."""

import shlex
import sys
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.panel import Panel
from rich.table import Table
from rich.text import Text

from turnwright.client.cli.options import Json
from turnwright.client.cli.screen import Screen, harmless
from turnwright.journal.errors import InvalidInput
from turnwright.worker.agents_check import AgentsSeen, look_at
from turnwright.worker.commands.ending import told
from turnwright.worker.dev_place import DevInfo, DevPlace
from turnwright.worker.invocation import Invocation, journal_url_of
from turnwright.worker.leaving import MARGIN_S, leave_when_asked, run_until_signalled
from turnwright.worker.logs import configure_logs
from turnwright.worker.settings import Settings

ECHO = "turnwright.worker.echo:registry"
LOOKS = ("turns", "journal tail first")
STYLES = ("cyan", "magenta", "green", "yellow")

Agents = Annotated[str | None, typer.Option(help="The agents, as package.module:name; without it, one that echoes.")]
Journal = Annotated[str | None, typer.Option(help="Another journal than .turnwright/journal.db.")]
Workers = Annotated[int, typer.Option(min=1, max=32, help="How many worker processes.")]
Port = Annotated[int | None, typer.Option(min=1, max=65535, help="Temporal's port; 7233 if it is free.")]
UiPort = Annotated[int | None, typer.Option(min=1, max=65535, help="The port of Temporal's page; 8233 if it is free.")]
NoGateway = Annotated[bool, typer.Option("--no-gateway", help="Without the HTTP gateway and its console.")]


def register(app: typer.Typer, invocation: Invocation) -> None:
    """Add the command."""

    @app.command()
    def dev(
        *,
        agents: Agents = None,
        journal: Journal = None,
        workers: Workers = 1,
        port: Port = None,
        ui_port: UiPort = None,
        no_gateway: NoGateway = False,
        as_json: Json = False,
    ) -> None:
        """Start a journal, Temporal, workers and a gateway here. Ctrl-C ends all of them; what was accepted stays."""
        screen = Screen(as_json=as_json)
        with told(screen):
            log_format = "json" if as_json else None
            settings = invocation.settings(agents=agents, journal_url=journal_url_of(journal), log_format=log_format)
            _check(settings)
            run_dev(settings, workers, (port, ui_port), screen, gateway=not no_gateway)


def _check(settings: Settings) -> None:
    named = settings.temporal_address or settings.temporal_profile
    if named is not None:
        raise InvalidInput(f"dev starts a Temporal of its own; for the one at {named} use `turnwright worker`")
    if settings.gateway_url is not None:
        raise InvalidInput(
            "dev has a journal and a gateway of its own, and the other commands here would go through the one that "
            "gateway_url names; leave it out of turnwright.toml and of the environment (TURNWRIGHT_GATEWAY_URL)"
        )


def run_dev(
    settings: Settings, workers: int, ports: tuple[int | None, int | None], screen: Screen, *, gateway: bool
) -> None:
    """Be a dev until the end; what is wrong with the agents is told before anything is started."""
    leave_when_asked()
    from turnwright.worker.dev import Dev, DevOptions  # noqa: PLC0415 - the other commands need not wait for it

    seen = AgentsSeen() if settings.agents is None else look_at(settings.agents)
    options = DevOptions(settings.agents or ECHO, workers, *ports, gateway)
    configure_logs(settings.log_format, "warning", sys.stderr)
    view = ProgramView(screen, seen.warnings) if screen.as_json else TerminalView(seen.warnings)
    dev = Dev(settings, options, DevPlace(), view)
    run_until_signalled(dev, settings.drain_timeout_s + settings.cancel_grace_s + 2 * MARGIN_S)


class TerminalView:
    """Shows a dev in the terminal: results on standard output, logs beside them."""

    def __init__(self, warnings: Sequence[str] = ()) -> None:
        self._warnings = warnings
        self._out = Console(highlight=False)
        self._err = Console(stderr=True, highlight=False)

    def ready(self, info: DevInfo, agents: list[str], workers: int, folder: Path) -> None:
        """Where everything is, and what to do next."""
        agent = shlex.quote(agents[0]) if agents else "AGENT"
        facts = _facts(info, agents, workers, folder, self._warnings)
        self._out.print(Panel(facts, title="turnwright dev", title_align="left"))
        # Outside of the frame and unwrapped, so that it can be copied.
        if info.key_file is not None and sys.stdout.isatty():  # what is written to a file might be anybody's to read
            key = Path(info.key_file).read_text(encoding="ascii").strip()
            self._out.print(Text("Key  ", style="bold") + Text(key), soft_wrap=True)
        self._out.print(Text("Try, in another terminal in this folder:", style="bold"))
        for command in (f'submit "hello" --agent {agent} --session first --create --follow', *LOOKS):
            self._out.print(Text(f"  turnwright {command}"), soft_wrap=True)
        if info.gateway_url is not None:
            bearer = f'"Authorization: Bearer $(cat {info.key_file})"'
            self._out.print(Text(f"  curl -H {bearer} {info.gateway_url}/v1/turns"), soft_wrap=True)
        self._out.print(Text("Ctrl-C ends it and leaves no process behind.", style="dim"))

    def line(self, label: str, text: str) -> None:
        """A line of a worker's log."""
        style = STYLES[int(label.rpartition("-")[2]) % len(STYLES)]
        self._err.print(Text(f"{label} ", style=style) + Text(harmless(text)), soft_wrap=True)


class ProgramView:
    """Shows a dev to a program: where everything is on standard output, the workers' own lines on standard error."""

    def __init__(self, screen: Screen, warnings: Sequence[str] = ()) -> None:
        self._screen = screen
        self._warnings = warnings

    def ready(self, info: DevInfo, agents: list[str], workers: int, folder: Path) -> None:
        """Where everything is; it is ready."""
        found = {"agents": agents, "workers": workers, "folder": str(folder), "warnings": list(self._warnings)}
        self._screen.json(asdict(info) | found)

    def line(self, label: str, text: str) -> None:
        """A line of a worker's log, which is an object already."""
        del label
        sys.stderr.write(text + "\n")
        sys.stderr.flush()


def _facts(info: DevInfo, agents: list[str], workers: int, folder: Path, warnings: Sequence[str]) -> Table:
    table = Table.grid(padding=(0, 2))
    gateway = (("Console", f"{info.gateway_url}/console   key: {info.key_file}"),) if info.gateway_url else ()
    for name, value in (
        ("Temporal", f"{info.temporal_address}   page: {info.ui_url}"),
        ("Journal", info.journal),
        ("Workers", f"{workers}, with {', '.join(agents) or 'no agent'}"),
        *gateway,
        ("Logs", f"{folder}/*.log"),
    ):
        table.add_row(Text(name, style="bold"), Text(value))
    for warning in warnings:
        table.add_row(Text("Warning", style="bold yellow"), Text(harmless(warning)))
    return table
