"""The reference page names every command there is."""

import typer
from typer.main import get_command

from tests.unit.source_tree import ROOT
from turnwright.client import ClientSettings
from turnwright.client.cli import register

PAGE = (ROOT / "docs" / "reference" / "command-line.md").read_text(encoding="utf-8")


def test_every_command_and_every_option_of_the_client_stands_in_the_reference() -> None:
    app = typer.Typer()
    register(app, ClientSettings)
    missing = []
    for name, command in get_command(app).commands.items():  # type: ignore[attr-defined]
        members = getattr(command, "commands", None)
        for path, one in {f"{name} {k}": v for k, v in members.items()}.items() if members else [(name, command)]:
            words = [f"`{path}"] + [option for p in one.params for option in p.opts if option.startswith("--")]
            missing += [f"{path}: {word}" for word in words if word not in PAGE and word != "--help"]
    assert missing == []
