"""`turnwright worker`: carry out turns until told to stop."""

import sys
from pathlib import Path
from typing import Annotated

import typer

from turnwright.client.cli.options import Json
from turnwright.client.cli.screen import Screen
from turnwright.journal.errors import InvalidInput
from turnwright.worker.commands.ending import told
from turnwright.worker.invocation import Invocation, journal_url_of, with_dev_address
from turnwright.worker.leaving import MARGIN_S, leave_when_asked, run_until_signalled
from turnwright.worker.logs import configure_logs
from turnwright.worker.settings import Settings

Agents = Annotated[str | None, typer.Option(help="The agents to run, as package.module:name of a registry.")]
Journal = Annotated[str | None, typer.Option(help="The journal: a URL, or the path of a SQLite file.")]
MetricsPort = Annotated[int | None, typer.Option(min=0, max=65_535, help="Show /metrics on this port.")]
Label = Annotated[str, typer.Option(help="What people call this worker.")]


def register(app: typer.Typer, invocation: Invocation) -> None:
    """Add the command."""

    @app.command()
    def worker(
        *,
        agents: Agents = None,
        journal: Journal = None,
        label: Label = "worker",
        metrics_port: MetricsPort = None,
        as_json: Json = False,
    ) -> None:
        """Carry out turns. SIGTERM or Ctrl-C lets it finish or hand over what runs; a second Ctrl-C does not wait."""
        with told(Screen(as_json=as_json)):
            log_format = "json" if as_json else None
            settings = invocation.settings(
                agents=agents,
                journal_url=journal_url_of(journal),
                metrics_port=metrics_port,
                log_format=log_format,
            )
            run_worker(with_dev_address(settings), label)


def run_worker(settings: Settings, label: str) -> None:
    """Be a worker process until the end."""
    leave_when_asked()
    # The other commands need not wait for what only a worker loads.
    from turnwright.activities.registry import load_registry  # noqa: PLC0415
    from turnwright.worker.process import WorkerProcess  # noqa: PLC0415

    configure_logs(settings.log_format, settings.log_level, sys.stderr, settings.log_rules)
    if settings.agents is None:
        raise InvalidInput("a worker needs agents: turnwright worker --agents package.module:registry")
    file = settings.journal_file
    if file is not None and not file.exists():
        raise InvalidInput(f"there is no journal at {file}; run `turnwright journal migrate` to make one")
    sys.path.insert(0, str(Path.cwd()))  # agents stand where the command is called, installed or not
    process = WorkerProcess(settings, load_registry(settings.agents), label)
    run_until_signalled(process, settings.drain_timeout_s + settings.cancel_grace_s + MARGIN_S)
