"""`turnwright doctor`: look at everything that turns depend on, and say what to do."""

from __future__ import annotations

import asyncio
import sys
from dataclasses import asdict
from typing import Final

import typer

from turnwright.client.cli.options import Json
from turnwright.client.cli.running import REFUSED
from turnwright.client.cli.screen import Screen
from turnwright.journal.counted import counted
from turnwright.journal.errors import InvalidInput
from turnwright.worker.commands.ending import told
from turnwright.worker.dev_place import without_password
from turnwright.worker.doctor.findings import Finding, fine
from turnwright.worker.invocation import Invocation, with_dev_address
from turnwright.worker.logs import configure_logs
from turnwright.worker.settings import Settings

STYLES: Final = {"ok": "green", "warning": "yellow", "failed": "bold red"}


def register(app: typer.Typer, invocation: Invocation) -> None:
    """Add the command."""

    @app.command()
    def doctor(*, as_json: Json = False) -> None:
        """Look at all that turns depend on, and at clocks; say what to do. Exits with 1 if something failed."""
        screen = Screen(as_json=as_json)
        with told(screen):
            settings = with_dev_address(invocation.settings())
            if settings.gateway_url is not None:
                raise InvalidInput("a doctor looks at a journal itself; leave gateway_url out, where the journal is")
            configure_logs(settings.log_format, "error", sys.stderr)
            failed = asyncio.run(_look(settings, screen))
        if failed:
            raise typer.Exit(REFUSED)


async def _look(settings: Settings, screen: Screen) -> int:
    """Tell each finding as it comes; how many failed."""
    from turnwright.worker.doctor.agents import look_at_agents  # noqa: PLC0415 - loads the SDK
    from turnwright.worker.doctor.files import look_at_files  # noqa: PLC0415
    from turnwright.worker.doctor.journal import look_at_journal  # noqa: PLC0415
    from turnwright.worker.doctor.snapshots import look_at_snapshots  # noqa: PLC0415
    from turnwright.worker.doctor.temporal import look_at_temporal  # noqa: PLC0415

    counts = dict.fromkeys(STYLES, 0)
    _tell(screen, fine("settings", f"journal {without_password(settings.journal_url)}, tenant {settings.tenant}"))
    for look in (look_at_journal, look_at_temporal, look_at_agents, look_at_snapshots, look_at_files):
        async for finding in look(settings):
            counts[finding.verdict] += 1
            _tell(screen, finding)
    failed, warnings = counts["failed"], counts["warning"]
    said = f"{counted(failed, 'failure')}, {counted(warnings, 'warning')}" if failed or warnings else "all is well"
    screen.show({"failures": failed, "warnings": warnings}, said)
    return failed


def _tell(screen: Screen, finding: Finding) -> None:
    if screen.as_json:
        screen.json(asdict(finding))
        return
    screen.marked([(f"{finding.verdict:8} ", STYLES[finding.verdict]), (f"{finding.about}: {finding.said}", "")])
    if finding.todo:
        screen.marked([(" " * 9, ""), (finding.todo, "italic")])
