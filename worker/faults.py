"""Fault points: make this process die, stop, fail or wait at a named place, to test what survives it.

Rule: inert unless TURNWRIGHT_FAULT is set when the process starts, and then the log says so once. Without it
`read_fault` answers None: the journal's driver keeps no hook, the activities keep the boundary that does nothing,
and no other line of this file ever runs.

    TURNWRIGHT_FAULT="kill@committed:7"       SIGKILL right after the seventh commit
    TURNWRIGHT_FAULT="stop@tool:claimed:1"    SIGSTOP where the first tool call was claimed; SIGCONT lets it go on
    TURNWRIGHT_FAULT="raise@model:begun:1+"   an error at the first begin of a model call and at each one after it
    TURNWRIGHT_FAULT="delay=2.5@commit:3"     2.5 s of waiting before the third commit

Points are what the driver's hook names (`begin`, a statement, `commit`, `committed`) and what activities pass by
(`turnwright.activities.runtime.boundary`). `commit` and `committed` count transactions that append entries: the
others change nothing that matters, and how many of them there are depends on the clock.
"""

import asyncio
import os
import re
import signal
import threading
from collections.abc import Awaitable, Mapping
from dataclasses import dataclass, field
from typing import Literal, cast

import structlog

from turnwright.journal.errors import InvalidInput, StoreUnavailable

VARIABLE = "TURNWRIGHT_FAULT"
_FORM = re.compile(r"(kill|stop|raise|delay=(\d+(?:\.\d+)?))@([a-z_:]+):([1-9]\d*)(\+?)")

Kind = Literal["kill", "stop", "raise", "delay"]
log = structlog.get_logger(__name__)


class FaultRaised(RuntimeError):
    """The error a `raise` fault brings into an activity."""


@dataclass(slots=True)
class Fault:
    """One fault at the n-th passing of a point, or with `again` at that and every later one."""

    kind: Kind
    point: str
    at: int
    again: bool = False
    delay_s: float = 0.0
    passed: int = 0
    _appended: set[int] = field(default_factory=set)

    def at_statement(self, point: str) -> Awaitable[None] | None:
        """For the hook of the journal's driver, which calls it in several threads and tasks."""
        transaction = _transaction()
        if point == "begin":
            self._appended.discard(transaction)
        elif point.startswith("append"):
            self._appended.add(transaction)
        elif point in ("commit", "committed") and transaction not in self._appended:
            return None
        if self._is_due(point):
            return self._strike(StoreUnavailable(f"a fault point says that the store went away at {point}"))
        return None

    async def at_boundary(self, point: str) -> None:
        """For the boundary of the activities."""
        if self._is_due(point):
            await (self._strike(FaultRaised(f"a fault point says so at {point}")) or asyncio.sleep(0))

    def _is_due(self, point: str) -> bool:
        if point != self.point:
            return False
        self.passed += 1
        return self.passed == self.at or (self.again and self.passed > self.at)

    def _strike(self, error: Exception) -> Awaitable[None] | None:
        match self.kind:
            case "kill":
                os.kill(os.getpid(), signal.SIGKILL)
            case "stop":
                os.kill(os.getpid(), signal.SIGSTOP)
            case "raise":
                raise error
            case "delay":
                return asyncio.sleep(self.delay_s)
        return None


def read_fault(environment: Mapping[str, str]) -> Fault | None:
    """The fault this process is to suffer; None, as in production, when nobody asks for one.

    Raises:
        InvalidInput: it is asked for in a form nobody understands.
    """
    wanted = environment.get(VARIABLE)
    if not wanted:
        return None
    found = _FORM.fullmatch(wanted)
    if found is None:
        raise InvalidInput(f"{VARIABLE}={wanted!r}: write KIND@POINT:N, such as kill@committed:7")
    kind, seconds, point, at, again = found.groups()
    log.warning("fault_armed", fault=wanted, effect="this process fails on purpose; unset it outside of tests")
    return Fault(cast("Kind", kind.partition("=")[0]), point, int(at), bool(again), float(seconds or 0))


def _transaction() -> int:
    """What tells transactions under way apart: one runs in a task, or in a thread of its own."""
    try:
        return id(asyncio.current_task())
    except RuntimeError:
        return threading.get_ident()
