"""How a worker process ends: asked once it drains, at a second Ctrl-C it stops waiting, never through the interpreter.

Rule: after a finished drain the process leaves with `os._exit`. One in five clean exits was seen to crash in the
interpreter's shutdown, where native threads of the SDK still run; by then everything is flushed anyway. A drain
that does not end by itself is ended, also while something keeps the event loop from moving: the journal knows what was
claimed, and others take it over. A repeated SIGTERM is the same request: supervisors send it to a process and to its
parent, which passes it on.
"""

import asyncio
import os
import signal
import sys
import threading
import time
from collections.abc import Coroutine
from typing import Any, NoReturn, Protocol

import structlog

EXIT_OK = 0
EXIT_FAILED = 1
EXIT_INTERRUPTED = 130
MARGIN_S = 10.0
SIGNALS = (signal.SIGTERM, signal.SIGINT)

log = structlog.get_logger(__name__)


class Stoppable(Protocol):
    """Something that runs until it is asked to stop."""

    def stop(self) -> None:
        """Ask it to end soon."""
        ...

    async def run(self) -> None:
        """Run to the end."""
        ...


class Leaving:
    """Passes signals on to what runs."""

    def __init__(self, running: Stoppable, drain_s_max: float) -> None:
        self._running = running
        self._drain_s_max = drain_s_max
        self._asked = False

    def listen(self) -> None:
        """Take over SIGTERM and SIGINT; call it in the running loop."""
        loop = asyncio.get_running_loop()
        waiting, asking = os.pipe()
        own_pid = os.getpid()

        def handle(number: int, _frame: object) -> None:
            if os.getpid() != own_pid:  # a child that a tool has forked is asked, and not this process
                signal.signal(number, signal.SIG_DFL)
                os.kill(os.getpid(), number)
                return
            os.write(asking, b"!")
            loop.call_soon_threadsafe(self.on_signal, signal.Signals(number))

        # The loop's own handlers run in the loop, which a tool may block.
        threading.Thread(target=self._watch, args=(waiting,), name="turnwright-leaving", daemon=True).start()
        for number in SIGNALS:
            signal.signal(number, handle)

    def on_signal(self, number: signal.Signals) -> None:
        """The first one drains; a Ctrl-C after it does not wait."""
        if self._asked:
            if number is signal.SIGINT:
                log.warning("leaving_at_once", signal=number.name)
                leave(EXIT_INTERRUPTED)
            log.info("leaving_already", signal=number.name)
            return
        self._asked = True
        log.info("leaving", signal=number.name, drain_s_max=self._drain_s_max)
        self._running.stop()

    def _watch(self, waiting: int) -> None:
        os.read(waiting, 1)
        time.sleep(self._drain_s_max)
        log.error("drain_did_not_end", drain_s_max=self._drain_s_max, then="others take over what was claimed")
        leave(EXIT_FAILED)


def leave_when_asked() -> None:
    """Have a signal end this process at once, for as long as nothing has begun: then there is nothing to hand over."""
    for number in SIGNALS:
        signal.signal(number, lambda *_: leave(EXIT_OK))


def run_until_signalled(running: Stoppable, drain_s_max: float) -> NoReturn:
    """Run it as the whole of this process, and leave."""

    async def run() -> int:
        Leaving(running, drain_s_max).listen()
        await running.run()
        return EXIT_OK

    leave(run_to_exit_code(run()))


def run_to_exit_code(main: Coroutine[Any, Any, int]) -> int:
    """Run it on a loop that is not torn down: closing it would wait for threads that may never end."""
    return asyncio.Runner().run(main)


def leave(code: int) -> NoReturn:
    """End the process without the interpreter's shutdown."""
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except (OSError, ValueError, RuntimeError):  # the last: a signal came amid a write to it
            continue
    os._exit(code)
