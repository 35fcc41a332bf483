"""The example of a refused cancellation does what it promises: it checks that itself, and says what it saw."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.timeout(120)

ROOT = Path(__file__).resolve().parents[2]


def test_a_refused_call_is_told_to_the_model_as_the_persons_choice_and_nothing_is_cancelled() -> None:
    said = subprocess.run(
        [sys.executable, "-m", "examples.order_change"],
        cwd=ROOT,
        env=os.environ | {"PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        timeout=100,
        check=False,
    )
    assert said.returncode == 0, said.stderr
    lines = said.stdout.splitlines()
    assert "answered with: turn, interaction_id, resolution" in lines
    assert any(line.startswith("answer: Order 88235 was not cancelled") for line in lines)
    assert "the state has 8 messages; the provider was asked 4 times" in lines
