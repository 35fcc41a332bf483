"""Says when the event loop stands still, and in whose code.

Rule: a tool that blocks instead of awaiting keeps everything here from moving: other calls, heartbeats, beats of the
presence. Others take over after the lease; only this thread can tell why, for it needs no loop to move.
"""

import asyncio
import sys
import threading
import time
from types import FrameType

import structlog

BLOCKED_S = 2.0
LOOK_INTERVAL_S = 0.5
PLACES_MAX = 4

log = structlog.get_logger(__name__)


class LoopWatch:
    """Watches the loop that starts it, from a thread."""

    def __init__(self) -> None:
        self._loop: asyncio.AbstractEventLoop | None = None
        self._loop_thread = 0
        self._moved_s = 0.0
        self._said = False
        self._ending = threading.Event()
        self._next_move: asyncio.TimerHandle | None = None

    async def start(self) -> None:
        """Begin; harmless when it has."""
        if self._loop is None:
            self._loop, self._loop_thread = asyncio.get_running_loop(), threading.get_ident()
            self._ending = threading.Event()  # an earlier thread may not have seen its own yet
            self._moved()
            threading.Thread(target=self._watch, args=(self._ending,), name="loop-watch", daemon=True).start()

    async def stop(self) -> None:
        """End; the thread follows by itself."""
        self._ending.set()
        self._loop = None
        if self._next_move is not None:
            self._next_move.cancel()

    def _moved(self) -> None:
        self._moved_s = time.monotonic()
        if self._loop is not None:
            self._next_move = self._loop.call_later(LOOK_INTERVAL_S, self._moved)

    def _watch(self, ending: threading.Event) -> None:
        looked_s = time.monotonic()
        while not ending.wait(LOOK_INTERVAL_S):
            now_s = time.monotonic()
            if now_s - looked_s < 2 * LOOK_INTERVAL_S:  # else this whole process stood still
                self._look(now_s - self._moved_s)
            looked_s = now_s

    def _look(self, still_s: float) -> None:
        if still_s < BLOCKED_S:
            self._said = False
        elif not self._said:
            self._said = True
            log.warning(
                "event_loop_blocked",
                seconds=round(still_s, 1),
                at=_places(sys._current_frames().get(self._loop_thread)),  # noqa: SLF001 - there is no other way to see it
                effect="nothing moves here; other workers take over what this one had",
                then="make the tool await, or declare it with `def`: then it runs in a thread",
            )


def _places(frame: FrameType | None) -> list[str]:
    """Where a thread is, the innermost first."""
    places: list[str] = []
    while frame is not None and len(places) < PLACES_MAX:
        code = frame.f_code
        places.append(f"{code.co_filename}:{frame.f_lineno} in {code.co_name}")
        frame = frame.f_back
    return places
