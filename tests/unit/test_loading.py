"""What a command does not need it does not load: a person waits for every import."""

import subprocess
import sys
from pathlib import Path

import pytest

HEAVY = ("temporalio", "pydantic_ai", "asyncpg", "turnwright.activities")
PROGRAM = """
import sys
from turnwright.worker.main import build_app
try:
    build_app()(sys.argv[1:])
except SystemExit as end:
    assert end.code == 0, end.code
loaded = [name for name in sys.modules if name.startswith({heavy!r})]
sys.exit(f"loaded {{loaded}}" if loaded else 0)
"""


@pytest.mark.parametrize("command", ["--help", "--version", "turn --help", "turns", "session list", "journal stats"])
def test_commands_that_only_look_load_no_sdk(command: str, tmp_path: Path) -> None:
    def run(words: str) -> subprocess.CompletedProcess[str]:
        program = [sys.executable, "-c", PROGRAM.format(heavy=HEAVY), *words.split()]
        return subprocess.run(program, cwd=tmp_path, capture_output=True, text=True, check=False)

    if not command.startswith("-"):
        assert run("journal migrate").stderr == ""
    done = run(command)
    assert (done.returncode, "loaded" in done.stderr) == (0, False), done.stderr


def test_a_client_loads_no_sdk_before_its_first_command() -> None:
    code = "import sys, turnwright.client; sys.exit('temporalio' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_a_command_that_loaded_the_sdk_does_not_wait_for_the_interpreters_end() -> None:
    """Threads of the SDK that come to the interpreter while it ends abort the process: seen once in a dozen runs."""
    code = (
        "import atexit, sys; atexit.register(print, 'the end'); import turnwright.worker.main as command; "
        "sys.argv = ['turnwright', 'turn', '--nonsense']; {}command.main()"
    )
    ended = [
        subprocess.run([sys.executable, "-c", code.format(loads)], capture_output=True, text=True, check=False)
        for loads in ("", "import temporalio.bridge; ")
    ]
    assert [(done.returncode, "the end" in done.stdout) for done in ended] == [(2, True), (2, False)]
    assert "--nonsense" in ended[1].stderr
