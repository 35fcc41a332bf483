"""What the audit of pinned releases makes of what the advisories' tool says."""

import json
import os
import subprocess
from pathlib import Path

import pytest

from tests.unit.source_tree import ROOT

HOLES = {"dependencies": [{"name": "shop", "version": "1", "vulns": [{"id": "PYSEC-1"}]}]}
POOL = "HTTPSConnectionPool(host='api.osv.dev', port=443)"
NOWHERE = f"{POOL}: Max retries exceeded (Caused by NameResolutionError('Name or service not known'))"


def audited(folder: Path, report: str, says: str, ends: str) -> subprocess.CompletedProcess[str]:
    """The audit with a tool that writes this report, says this, and ends so."""
    (folder / "report").write_text(report)
    (folder / "says").write_text(says)
    tool = folder / "tool"
    tool.write_text(
        "#!/usr/bin/env bash\n"
        'while [ "$1" != --output ]; do shift; done\n'
        f'cat "{folder}/report" > "$2"\n'
        f'cat "{folder}/says" >&2\n'
        f"{ends}\n"
    )
    tool.chmod(0o755)
    return subprocess.run(
        ["bash", ".ci/audit", str(tool)],
        cwd=ROOT,
        env=os.environ | {"AUDIT_S_MAX": "1"},
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )


def test_what_was_asked_and_has_no_hole_passes(tmp_path: Path) -> None:
    done = audited(tmp_path, "", "", "exit 0")
    assert (done.returncode, done.stdout) == (0, "no release that is pinned has a known hole\n"), done


def test_a_known_hole_fails_and_says_what_to_do(tmp_path: Path) -> None:
    done = audited(tmp_path, json.dumps(HOLES), "Found 1 known vulnerability", "exit 1")
    assert (done.returncode, "move the pins" in done.stderr, "PYSEC-1" in done.stdout) == (1, True, True), done


@pytest.mark.parametrize(
    ("says", "ends"),
    [
        (f"Traceback (most recent call last):\n  File …\nrequests.exceptions.ConnectionError: {NOWHERE}\n", "exit 1"),
        (f"requests.exceptions.ProxyError: {POOL}: Tunnel connection failed: 403 Forbidden\n", "exit 1"),
        (f"requests.exceptions.ReadTimeout: {POOL}: Read timed out.\n", "exit 1"),
        ("ERROR:pip_audit._cli:Could not connect to OSV's vulnerability feed\nERROR:pip_audit._cli:Tip: …\n", "exit 1"),
        ("requests.exceptions.HTTPError: 503 Server Error: Service Unavailable\n", "exit 1"),
        ("it asks\n", "exec sleep 30"),
    ],
)
def test_a_server_that_does_not_answer_fails_nobody(tmp_path: Path, says: str, ends: str) -> None:
    done = audited(tmp_path, "", says, ends)
    assert (done.returncode, "cannot be asked here" in done.stderr) == (0, True), done


@pytest.mark.parametrize(
    ("says", "ends"),
    [
        ("ERROR:pip_audit._cli:invalid requirements input: constraints.txt\n", "exit 1"),
        ("Traceback (most recent call last):\nKeyError: 'vulns'\n", "exit 1"),
        ("requests.exceptions.HTTPError: 400 Client Error: Bad Request\n", "exit 1"),
        (f"requests.exceptions.SSLError: {POOL}: certificate verify failed\n", "exit 1"),
        ("tool: error: unrecognized arguments: --disable-pip\n", "exit 2"),
        ("", "exit 127"),
    ],
)
def test_a_tool_that_fails_otherwise_fails_the_audit_with_all_it_said(tmp_path: Path, says: str, ends: str) -> None:
    done = audited(tmp_path, "", says, ends)
    assert (done.returncode, says in done.stderr, "nothing was audited" in done.stderr) == (1, True, True), done
