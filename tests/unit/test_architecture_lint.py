"""The linter is set up so that the house rules it holds are really held: each is broken once here."""

import re
import subprocess
import sys

import pytest

from tests.unit.source_tree import ROOT

BRANCHES = "\n".join(f"    if n == {n}:\n        n += 1" for n in range(11))
ONE_IGNORE = re.compile(r'^    "[A-Z]+\d*",')


def codes(filename: str, source: str) -> set[str]:
    options = ("--no-cache", "--output-format=concise", "--stdin-filename", filename, "-")
    command = (sys.executable, "-m", "ruff", "check", *options)
    done = subprocess.run(command, input=source, cwd=ROOT, capture_output=True, text=True, check=False)
    return set(re.findall(r":\d+:\d+: (?:error\[)?([A-Z]+\d+)", done.stdout))


@pytest.mark.parametrize(
    ("filename", "source", "code"),
    [
        ("journal/planted.py", 'print("hello")', "T201"),
        ("worker/planted.py", "import logging", "TID251"),
        ("client/planted.py", "from logging import getLogger", "TID251"),
        ("activities/planted.py", "import journal", "TID251"),
        ("tests/unit/planted.py", "from client import Client", "TID251"),
        ("tests/unit/planted.py", "from unittest.mock import patch", "TID251"),
        ("workflows/planted.py", "from . import ids", "TID252"),
        ("journal/planted.py", f"def f(n: int) -> int:\n{BRANCHES}\n    return n", "C901"),
        ("journal/planted.py", "import turnwright.journal", "D100"),
        ("journal/planted.py", f"x = '{'x ' * 70}'", "E501"),
    ],
)
def test_a_broken_house_rule_is_reported(filename: str, source: str, code: str) -> None:
    assert code in codes(filename, source)


def test_every_ignored_rule_has_its_reason_beside_it() -> None:
    lines = (ROOT / "pyproject.toml").read_text(encoding="utf-8").splitlines()
    ignores = [line for line in lines if ONE_IGNORE.match(line)]
    assert ignores
    assert [line for line in ignores if "# " not in line] == []
