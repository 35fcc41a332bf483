"""The `turnwright` command: it loads the client's commands and the worker's, and holds what they share.

Rule: this file only puts together. What is said before a command's name holds for every command.
"""

import sys
from pathlib import Path
from typing import Annotated, Final

import typer

from turnwright.client.cli import register as register_client
from turnwright.client.cli.usage import Commands
from turnwright.worker.commands import demo, dev, doctor, gateway, journal, recover, snapshots, transcripts, worker
from turnwright.worker.invocation import Invocation, journal_url_of
from turnwright.worker.leaving import EXIT_FAILED, leave

SDK: Final = "temporalio.bridge"

Config = Annotated[Path | None, typer.Option(help="The settings file; else turnwright.toml in this folder.")]
Journal = Annotated[
    str | None, typer.Option(help="The journal: postgresql://…, sqlite:///…, or the path of a SQLite file.")
]
Tenant = Annotated[str | None, typer.Option(help="The tenant of commands.")]
TaskQueue = Annotated[str | None, typer.Option(help="The Temporal task queue.")]
Address = Annotated[str | None, typer.Option(help="host:port of Temporal.")]
LogFormat = Annotated[str | None, typer.Option(help="Of dev and worker: console or json.")]
LogLevel = Annotated[str | None, typer.Option(help="Of dev and worker: debug, info, warning or error.")]


def build_app() -> typer.Typer:
    """The command with everything in it."""
    invocation = Invocation()
    app = typer.Typer(
        cls=Commands,
        no_args_is_help=True,
        pretty_exceptions_enable=False,
        help="AI-agent conversations as durable workflows. Begin with `turnwright dev`.",
        epilog="Every setting may also stand in turnwright.toml or in the environment as TURNWRIGHT_…",
    )

    @app.callback(invoke_without_command=True)
    def shared(
        *,
        config: Config = None,
        journal: Journal = None,
        tenant: Tenant = None,
        task_queue: TaskQueue = None,
        temporal_address: Address = None,
        log_format: LogFormat = None,
        log_level: LogLevel = None,
        show_version: Annotated[bool, typer.Option("--version", help="Show the version and exit.")] = False,
    ) -> None:
        if show_version:
            typer.echo(f"turnwright {_version()}")
            raise typer.Exit
        invocation.given(
            config=config,
            journal_url=journal_url_of(journal),
            tenant=tenant,
            task_queue=task_queue,
            temporal_address=temporal_address,
            log_format=log_format,
            log_level=log_level,
        )

    for commands in (dev, worker, gateway, doctor, recover, demo, journal, snapshots, transcripts):
        commands.register(app, invocation)
    register_client(app, invocation.client_settings)
    return app


def _version() -> str:
    from importlib.metadata import version  # noqa: PLC0415 - only who asks waits for it

    return version("turnwright")


def main() -> None:
    """Run the command line, and end with its code."""
    try:
        build_app()()
    except SystemExit as end:
        # A thread of the SDK that asks for the interpreter while that ends would abort the process.
        if SDK in sys.modules and isinstance(end.code, int):
            leave(end.code)
        raise
    except Exception:
        if SDK not in sys.modules:
            raise
        sys.excepthook(*sys.exc_info())
        leave(EXIT_FAILED)


if __name__ == "__main__":
    main()
