"""What `turnwright dev` shows of its gateway's key: to a person all of it, to whatever keeps its output where it is."""

import sys
from pathlib import Path

import pytest

from turnwright.client.cli.screen import Screen
from turnwright.worker.commands.dev import ProgramView, TerminalView
from turnwright.worker.dev_place import DevInfo

TOKEN = "tw_1_secret"


@pytest.fixture
def info(tmp_path: Path) -> DevInfo:
    file = tmp_path / "gateway.key"
    file.write_text(f"{TOKEN}\n")
    return DevInfo(7, "sqlite:///j.db", "127.0.0.1:7233", "http://127.0.0.1:8233", "http://127.0.0.1:8420", str(file))


def test_in_a_terminal_the_key_stands_alone_on_its_line(
    info: DevInfo, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TERM", "dumb")  # without colours
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    TerminalView().ready(info, ["echo"], 1, tmp_path)
    assert [line.split() for line in capsys.readouterr().out.splitlines() if TOKEN in line] == [["Key", TOKEN]]


def test_elsewhere_only_its_file_is_named(info: DevInfo, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    TerminalView().ready(info, ["echo"], 1, tmp_path)
    ProgramView(Screen(as_json=True)).ready(info, ["echo"], 1, tmp_path)
    shown = capsys.readouterr().out
    assert TOKEN not in shown
    assert f'curl -H "Authorization: Bearer $(cat {info.key_file})" http://127.0.0.1:8420/v1/turns' in shown


def test_without_a_gateway_none_is_shown(info: DevInfo, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    bare = DevInfo(info.pid, info.journal, info.temporal_address, info.ui_url)
    TerminalView().ready(bare, ["echo"], 1, tmp_path)
    shown = capsys.readouterr().out
    assert "turnwright submit" in shown
    assert not {"Console", "Key", "curl"} & set(shown.split())
