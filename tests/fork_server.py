"""A process that has loaded what a worker loads, and forks one whenever it is asked, so that none need load it anew.

    python -m tests.fork_server        (its standard input is the socket; `tests.forked` is the other end)

Rule: it has one thread, and loads only: it opens, connects and starts nothing, so that what it forks is what
`python -m` gives. What it forks ends with it, and it ends with whoever asks.
"""

import gc
import importlib
import json
import os
import runpy
import socket
import sys
from dataclasses import dataclass

from tests.namespaces import enter
from turnwright.worker.lifeline import ask_kernel

LOADED = (
    "turnwright.worker.main",
    "turnwright.worker.process",
    "turnwright.activities.registry",
    "turnwright.journal.postgres.driver",
)
REQUEST_BYTES_MAX = 150_000
OUTPUTS_MAX = 2


@dataclass(frozen=True)
class Program:
    """What a forked process becomes, where its output and its errors go, its whole environment, and its network."""

    module: str
    arguments: list[str]
    environment: dict[str, str]
    outputs: list[int]
    namespace: str

    def run(self) -> None:
        """Be it, until its end."""
        ask_kernel()
        os.setsid()
        if self.namespace:
            enter(self.namespace)
        nothing = os.open(os.devnull, os.O_RDONLY)
        for there, here in ((nothing, 0), (self.outputs[0], 1), (self.outputs[-1], 2)):
            os.dup2(there, here)
        for output in self.outputs:
            os.close(output)
        os.environ.clear()
        os.environ.update(self.environment)
        sys.argv[1:] = self.arguments
        runpy.run_module(self.module, run_name="__main__", alter_sys=True)


def load() -> None:
    """Load everything; the program itself is run as `python -m` does, which is for modules that nobody imported."""
    for name in LOADED:
        importlib.import_module(name)
    del sys.modules["turnwright.worker.main"]
    gc.freeze()


def serve(control: socket.socket) -> Program | None:
    """Do what is asked; comes back in each forked process with what that is to be, and at the end with nothing."""
    while True:
        said, files, _, _ = socket.recv_fds(control, REQUEST_BYTES_MAX, OUTPUTS_MAX)
        if not said:
            return None
        asked = json.loads(said)
        if asked["do"] != "fork":
            control.send(json.dumps(_look(asked["do"], asked["pid"])).encode())
            continue
        pid = os.fork()
        if pid == 0:
            return Program(asked["module"], asked["arguments"], asked["environment"], files, asked["namespace"])
        for file in files:
            os.close(file)
        control.send(json.dumps(pid).encode())


def _look(do: str, pid: int) -> int | None:
    """A process's exit code or None, waited for or not. It stays known until it was told."""
    ended, status = os.waitpid(pid, 0 if do == "wait" else os.WNOHANG)
    return os.waitstatus_to_exitcode(status) if ended else None


if __name__ == "__main__":
    load()
    with socket.socket(fileno=os.dup(0)) as asking:
        begun = serve(asking)
    if begun is not None:
        begun.run()
