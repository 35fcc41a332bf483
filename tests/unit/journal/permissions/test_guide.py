"""The guide's table of rules and the code in it are true."""

import json
import re
from typing import Any

import pytest

from tests.unit.source_tree import ROOT
from turnwright.activities import Agent, Tool
from turnwright.journal.permissions.call import CallSeen
from turnwright.journal.permissions.facts import CallFacts
from turnwright.journal.permissions.patterns import matches
from turnwright.journal.permissions.rules import parse_rule

GUIDE = (ROOT / "docs" / "guides" / "permissions.md").read_text(encoding="utf-8")
WORK = "/srv/shop"
ROW = re.compile(r"^\| `([^`]+)` \| `(\w+) ([^`]+)` \| (yes|no) \| (yes|no) \|$", re.MULTILINE)
PLACES = {"src/deep/a.py": f"{WORK}/src/deep/a.py", "src/../../etc/passwd": "/srv/etc/passwd"}


def seen(tool: str, written: str) -> CallSeen:
    match tool:
        case "shell":
            return CallSeen(tool, {"line": written}, command="line")
        case "edit":
            real = PLACES.get(written, written if written.startswith("/") else f"{WORK}/{written}")
            facts = CallFacts(resolved={"path": (real,)}, directories={WORK: WORK})
            return CallSeen(tool, {"path": written}, paths=("path",), facts=facts)
        case _:
            name, _, value = written.partition("=")
            return CallSeen(tool, {name: json.loads(value)})


@pytest.mark.parametrize(("rule", "tool", "written", "allows", "denies"), ROW.findall(GUIDE))
def test_a_row_of_the_guide_is_true(rule: str, tool: str, written: str, allows: str, denies: str) -> None:
    found = [
        matches(parse_rule(rule), seen(tool, written), granting=granting, directories=(WORK,))
        for granting in (True, False)
    ]
    assert found == [allows == "yes", denies == "yes"]


def test_the_guide_has_rows_and_the_code_in_it_defines_what_it_says() -> None:
    assert len(ROW.findall(GUIDE)) > 15
    named: dict[str, Any] = {}
    for block in re.findall(r"```python\n(.*?)```", GUIDE, re.DOTALL):
        if "import" in block:
            exec(compile(block, "permissions.md", "exec"), named)  # noqa: S102 - our own page
    assert isinstance(named["agent"], Agent)
    tools = [made.spec for made in named.values() if isinstance(made, Tool)]
    assert {spec.name: (spec.paths, spec.command, spec.checked) for spec in tools} == {
        "find_order": ((), None, False),
        "refund": ((), None, False),
        "pay": ((), None, True),
        "edit": (("path",), None, False),
        "shell": ((), "line", False),
    }
