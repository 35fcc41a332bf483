"""Whatever the agents' module does when it is loaded, the look at it ends and says what it found."""

from pathlib import Path

import pytest

from turnwright.journal.errors import InvalidInput
from turnwright.worker.agents_check import AgentsSeen, look_at

AGENTS = """
from turnwright.activities import Agent
agents = [Agent("a", "scripted:x")]
"""
RUNS_ON = "import threading; threading.Thread(target=threading.Event().wait).start()\n"
NOISE = """
import atexit, os, signal, subprocess
if os.fork() == 0:
    signal.alarm(60)
    signal.pause()
subprocess.Popen(["sleep", "60"])
print("hello")
os.write(1, b"{}")
os.system("echo hello")
atexit.register(lambda: os.write(1, b"bye"))
"""


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder it is called in."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.timeout(50)
def test_agents_are_found_whatever_their_module_leaves_running_and_prints(folder: Path) -> None:
    (folder / "shop.py").write_text(RUNS_ON + NOISE + AGENTS)
    assert look_at("shop:agents") == AgentsSeen()


def test_a_subagent_that_is_not_there_is_told(folder: Path) -> None:
    given = 'subagents=[Subagent("b", "Is not here."), Subagent("a", "Is.")]'
    (folder / "shop.py").write_text(
        f'from turnwright.activities import Agent, Subagent\nagents = [Agent("a", "scripted:x", {given})]'
    )
    [warning] = look_at("shop:agents").warnings
    assert warning.startswith("agent a: no agent here is called 'b'")


def test_a_module_that_fails_while_its_thread_runs_on_is_told_at_once(folder: Path) -> None:
    (folder / "shop.py").write_text(RUNS_ON + "raise KeyboardInterrupt")
    with pytest.raises(InvalidInput, match=r"ended with 1 while the agents were loaded: KeyboardInterrupt"):
        look_at("shop:agents")


def test_a_module_that_waits_for_ever_is_told_with_the_line_it_stands_at(folder: Path) -> None:
    (folder / "shop.py").write_text("import threading\n\nthreading.Event().wait()\n" + AGENTS)
    with pytest.raises(InvalidInput, match=r"not loaded within 4 s") as stuck:
        look_at("shop:agents", within_s=4)
    assert f'File "{folder / "shop.py"}", line 3 in <module>' in stuck.value.__notes__[0]
