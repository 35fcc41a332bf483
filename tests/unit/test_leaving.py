"""How a worker process ends, whatever it does when the signal comes."""

import subprocess
import sys
from textwrap import dedent

AMID_A_WRITE = """
    import io, os, signal, sys
    from turnwright.worker.leaving import leave_when_asked

    class Reader(io.RawIOBase):
        def writable(self):
            return True

        def write(self, data):
            os.kill(os.getpid(), signal.SIGTERM)
            return len(data)

    leave_when_asked()
    sys.stdout = io.TextIOWrapper(io.BufferedWriter(Reader()))
    print("hello", flush=True)
"""

BLOCKED = """
    import os, signal, threading, time
    from turnwright.worker.leaving import run_until_signalled

    class Blocked:
        def stop(self):
            raise AssertionError("nothing runs in the loop")

        async def run(self):
            os.kill(os.getpid(), signal.SIGTERM)
            time.sleep(600)

    run_until_signalled(Blocked(), 0.1)
"""

FORKED = """
    import asyncio, os, signal
    from turnwright.worker.leaving import run_until_signalled

    class Forking:
        def stop(self):
            raise AssertionError("nobody asked this process")

        async def run(self):
            child = os.fork()
            if child == 0:
                os.kill(os.getpid(), signal.SIGTERM)
                os._exit(0)
            _, status = os.waitpid(child, 0)
            print("child", os.waitstatus_to_exitcode(status), flush=True)
            await asyncio.sleep(0.5)

    run_until_signalled(Forking(), 0.1)
"""


def test_a_signal_amid_a_write_to_standard_output_ends_the_process_without_a_word() -> None:
    """The stream cannot be flushed from within its own write."""
    done = subprocess.run(
        (sys.executable, "-c", dedent(AMID_A_WRITE)), capture_output=True, text=True, timeout=60, check=False
    )
    assert (done.returncode, done.stderr) == (0, "")


def test_a_process_whose_event_loop_is_blocked_leaves_when_its_time_is_over() -> None:
    done = subprocess.run(
        (sys.executable, "-c", dedent(BLOCKED)), capture_output=True, text=True, timeout=60, check=False
    )
    assert done.returncode == 1
    assert "drain_did_not_end" in done.stdout + done.stderr


def test_a_signal_to_a_child_that_a_tool_has_forked_ends_the_child_alone() -> None:
    done = subprocess.run(
        (sys.executable, "-c", dedent(FORKED)), capture_output=True, text=True, timeout=60, check=False
    )
    assert (done.returncode, done.stdout) == (0, "child -15\n"), done.stderr
