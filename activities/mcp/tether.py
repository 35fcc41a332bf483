"""A server that dies with the worker that started it, also when the worker is killed.

Run as a script, by its path, in a bare interpreter: `python -I -S tether.py PARENT_PID COMMAND…`. It becomes the
command and leaves it its standard input, over which the server is spoken to; `worker/lifeline.py`, which ties the
worker's own children, takes that away. Where the kernel does not do it, a server ends by itself when that input ends,
as the protocol asks it to.
"""

import ctypes
import os
import signal
import sys

PR_SET_PDEATHSIG = 1


def main(parent_pid: int, command: list[str]) -> None:
    """Tie this process to its parent and become the command."""
    if sys.platform == "linux":
        ctypes.CDLL(None, use_errno=True).prctl(PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
    if os.getppid() != parent_pid:
        sys.exit("the worker ended before its server began")
    os.execvp(command[0], command)  # noqa: S606 - an argument list, no shell


if __name__ == "__main__":
    main(int(sys.argv[1]), sys.argv[2:])
