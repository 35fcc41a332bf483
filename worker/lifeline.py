"""A command that dies with the process that started it, also when that process is killed.

Run as a script, by its path, in a bare interpreter: `python -I -S lifeline.py PARENT_PID COMMAND…`. It ties
itself to the parent and then becomes the command, so the parent sees one process with one pid. A `preexec_fn`
would run Python between the fork and the exec of a process with threads, which can deadlock.

On Linux the kernel does it; its signal comes when the *thread* that started the command ends. Elsewhere a
watcher stays behind that reads standard input, whose other end only the parent holds.
"""

import ctypes
import os
import select
import signal
import sys

PR_SET_PDEATHSIG = 1
WATCH_INTERVAL_S = 0.5


def ask_kernel() -> None:
    """Have Linux kill this process, and what it becomes, when its parent ends."""
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.prctl(PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0) != 0:
        raise OSError(ctypes.get_errno(), "prctl(PR_SET_PDEATHSIG) failed")


def leave_watcher() -> None:
    """Fork a process that kills this one when the other end of standard input is closed."""
    command_pid = os.getpid()
    if os.fork() != 0:
        return
    # Once the command is gone the watcher has another parent, and the pid may be someone else's.
    while os.getppid() == command_pid:
        if select.select([0], [], [], WATCH_INTERVAL_S)[0] and not os.read(0, 1):
            os.kill(command_pid, signal.SIGKILL)
            break
    os._exit(0)


def close_input() -> None:
    """Give the command an empty standard input of its own."""
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)


def main(parent_pid: int, command: list[str]) -> None:
    """Tie this process to its parent and become the command."""
    if sys.platform == "linux":
        ask_kernel()
    else:
        leave_watcher()
    if os.getppid() != parent_pid:
        sys.exit("the parent ended before its command began")
    close_input()
    os.execvp(command[0], command)  # noqa: S606 - an argument list, no shell


if __name__ == "__main__":
    main(int(sys.argv[1]), sys.argv[2:])
