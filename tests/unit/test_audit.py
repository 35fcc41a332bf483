"""What the audit of pinned releases makes of what the advisories' tool says."""

import json
import subprocess
from pathlib import Path

import pytest

from tests.unit.source_tree import ROOT

HOLES = {"dependencies": [{"name": "shop", "version": "1", "vulns": [{"id": "PYSEC-1"}]}]}


@pytest.mark.parametrize(
    ("report", "tool_ended", "ended", "words"),
    [
        ("", 0, 0, "no release that is pinned has a known hole"),
        (json.dumps(HOLES), 1, 1, "move the pins"),
        ("", 1, 0, "nothing was audited"),
    ],
)
def test_only_a_known_hole_fails_the_audit(
    tmp_path: Path, report: str, tool_ended: int, ended: int, words: str
) -> None:
    tool = tmp_path / "tool"
    tool.write_text(
        "#!/usr/bin/env bash\n"
        'while [ "$1" != --output ]; do shift; done\n'
        f"printf '%s' '{report}' > \"$2\"\n"
        "echo unreachable >&2\n"
        f"exit {tool_ended}\n"
    )
    tool.chmod(0o755)
    done = subprocess.run(
        ["bash", ".ci/audit", str(tool)], cwd=ROOT, capture_output=True, text=True, check=False, timeout=60
    )
    assert (done.returncode, words in done.stdout + done.stderr) == (ended, True), done
    assert ("PYSEC-1" in done.stdout) == bool(report)
