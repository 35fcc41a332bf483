"""Mistakes in the command line are told in one line, or as one JSON object, with what was probably meant."""

import json

import pytest
from typer.testing import CliRunner

from turnwright.worker.main import build_app

CASES = [
    ("tern show x", "No such command 'tern'. Did you mean 'turn', 'turns'?; see `turnwright --help`"),
    ("turn shw x", "Did you mean 'show'?; see `turnwright turn --help`"),
    ("pause t-1", "There is `turnwright turns pause`, `turnwright turn pause`, `turnwright thread pause`"),
    ("turns --statu queued", "No such option: --statu (Possible options: --status); see `turnwright turns --help`"),
    ("turns list --tenant x", "it stands before the command: `turnwright --tenant … list …`; see"),
    ("turns --status sleeping", "Invalid value for '--status': 'sleeping' is not one of 'queued'"),
    ("thread pause s", "Missing argument 'AGENT'; see `turnwright thread pause --help`"),
    ("turn show a b", "Got unexpected extra argument(s) (b)"),
]


@pytest.mark.parametrize(("words", "told"), CASES)
def test_a_mistake_is_told_like_any_other_error(words: str, told: str) -> None:
    result = CliRunner().invoke(build_app(), words.split(), prog_name="turnwright")
    assert (result.exit_code, result.stdout) == (2, "")
    [line] = result.stderr.splitlines()
    assert line.startswith("error: ")
    assert told in line
    as_json = CliRunner().invoke(build_app(), [*words.split(), "--json"], prog_name="turnwright")
    assert (as_json.exit_code, as_json.stdout) == (2, "")
    error = json.loads(as_json.stderr)["error"]
    assert error["code"] == "usage"
    assert told.removesuffix("(b)") in error["message"]


@pytest.mark.parametrize(("words", "code"), [("--help", 0), ("turn --help", 0), ("--version", 0), ("turn", 2), ("", 2)])
def test_help_and_version_stay_what_they_are(words: str, code: int) -> None:
    result = CliRunner().invoke(build_app(), words.split(), prog_name="turnwright")
    assert result.exit_code == code
    assert "Usage:" in result.output or result.output.startswith("turnwright ")
    assert "error" not in result.stderr
