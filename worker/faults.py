"""Fault points: make this process die, stop, fail, wait or lose its store at a named place, to test what survives it.

Rule: inert unless TURNWRIGHT_FAULT is set when the process starts, and then the log says so once. Without it
`read_fault` answers None: the journal's driver keeps no hook, the activities keep the boundary that does nothing,
and no other line of this file ever runs.

    TURNWRIGHT_FAULT="kill@committed:7"       SIGKILL right after the seventh commit
    TURNWRIGHT_FAULT="stop@tool:claimed:1"    SIGSTOP where the first tool call was claimed; SIGCONT lets it go on
    TURNWRIGHT_FAULT="raise@model:begun:1+"   an error at the first begin of a model call and at each one after it
    TURNWRIGHT_FAULT="delay=2.5@commit:3"     2.5 s of waiting before the third commit
    TURNWRIGHT_FAULT="drop@any:4"             every connection to the store breaks at the fourth point of any name
    TURNWRIGHT_FAULT="deafen@commit:2"        they break for answers only: what is sent arrives, the commit is done
    TURNWRIGHT_FAULT="file:/tmp/fault"        what stands in that file, now and whenever it changes; counted anew then

Points are what the driver's hook names (`begin`, a statement, `commit`, `committed`) and what activities pass by
(`turnwright.activities.runtime.boundary`). `commit` and `committed` count transactions that append entries: the
others change nothing that matters, and how many of them there are depends on the clock. `any` is each of these two
and each of the activities'.
"""

import asyncio
import os
import re
import signal
import threading
from collections.abc import Awaitable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal, cast

import structlog

from turnwright.journal.errors import InvalidInput, StoreUnavailable
from turnwright.worker.fault_connections import break_connections

VARIABLE = "TURNWRIGHT_FAULT"
FILE = "file:"
ANY = "any"
COMMITS = ("commit", "committed")
_FORM = re.compile(r"(kill|stop|raise|drop|deafen|delay=(\d+(?:\.\d+)?))@([a-z_:]+):([1-9]\d*)(\+?)")

Kind = Literal["kill", "stop", "raise", "drop", "deafen", "delay"]
log = structlog.get_logger(__name__)


class FaultRaised(RuntimeError):
    """The error a `raise` fault brings into an activity."""


@dataclass(frozen=True, slots=True)
class Wanted:
    """One fault at the n-th passing of a point, or with `again` at that and every later one."""

    kind: Kind
    point: str
    at: int
    again: bool = False
    delay_s: float = 0.0


@dataclass(slots=True)
class Fault:
    """What this process suffers.

    Args:
        wanted: what it is; with a file, what that last said.
        journal_url: whose connections break.
        file: where to look for what is wanted now.
    """

    wanted: Wanted | None
    journal_url: str = ""
    file: Path | None = None
    _passed: int = 0
    _appended: set[int] = field(default_factory=set)
    _changed_ns: int = 0
    _counting: threading.Lock = field(default_factory=threading.Lock)

    def at_statement(self, point: str) -> Awaitable[None] | None:
        """For the hook of the journal's driver, which calls it in several threads and tasks."""
        transaction = _transaction()
        if point == "begin":
            self._appended.discard(transaction)
        elif point.startswith("append"):
            self._appended.add(transaction)
        elif point in COMMITS and transaction not in self._appended:
            return None
        due = self._due(point, anyhow=point in COMMITS)
        if due is None:
            return None
        return self._strike(due, StoreUnavailable(f"a fault point says that the store went away at {point}"))

    async def at_boundary(self, point: str) -> None:
        """For the boundary of the activities."""
        due = self._due(point, anyhow=True)
        if due is not None:
            await (self._strike(due, FaultRaised(f"a fault point says so at {point}")) or asyncio.sleep(0))

    def _due(self, point: str, *, anyhow: bool) -> Wanted | None:
        """What strikes now; `anyhow` at points that `any` means."""
        with self._counting:
            self._look_again()
            wanted = self.wanted
            if wanted is None or not (wanted.point == point or (anyhow and wanted.point == ANY)):
                return None
            self._passed += 1
            if self._passed == wanted.at or (wanted.again and self._passed > wanted.at):
                log.warning("fault_strikes", fault=wanted.kind, point=point, passed=self._passed)
                return wanted
            return None

    def _look_again(self) -> None:
        if self.file is None:
            return
        try:
            changed_ns = self.file.stat().st_mtime_ns
        except FileNotFoundError:
            return
        if changed_ns != self._changed_ns:
            self._changed_ns, self._passed = changed_ns, 0
            self.wanted = _parse(self.file.read_text("utf-8"), self.journal_url)

    def _strike(self, wanted: Wanted, error: Exception) -> Awaitable[None] | None:
        match wanted.kind:
            case "kill":
                os.kill(os.getpid(), signal.SIGKILL)
            case "stop":
                os.kill(os.getpid(), signal.SIGSTOP)
            case "raise":
                raise error
            case "drop" | "deafen":
                break_connections(self.journal_url, hear_only=wanted.kind == "deafen")
            case "delay":
                return asyncio.sleep(wanted.delay_s)
        return None


def read_fault(environment: Mapping[str, str], journal_url: str = "") -> Fault | None:
    """The fault this process is to suffer; None, as in production, when nobody asks for one.

    Raises:
        InvalidInput: it is asked for in a form nobody understands.
    """
    wanted = environment.get(VARIABLE)
    if not wanted:
        return None
    file = Path(wanted.removeprefix(FILE)) if wanted.startswith(FILE) else None
    fault = Fault(None if file else _parse(wanted, journal_url), journal_url, file)
    log.warning("fault_armed", fault=wanted, effect="this process fails on purpose; unset it outside of tests")
    return fault


def _parse(text: str, journal_url: str) -> Wanted | None:
    if not text:
        return None
    found = _FORM.fullmatch(text)
    if found is None:
        raise InvalidInput(f"{VARIABLE}={text!r}: write KIND@POINT:N, such as kill@committed:7")
    kind, seconds, point, at, again = found.groups()
    if kind in ("drop", "deafen") and not journal_url.startswith("postgres"):
        raise InvalidInput(f"{VARIABLE}={text!r}: only a journal on a server has connections")
    return Wanted(cast("Kind", kind.partition("=")[0]), point, int(at), bool(again), float(seconds or 0))


def _transaction() -> int:
    """What tells transactions under way apart: one runs in a task, or in a thread of its own."""
    try:
        return id(asyncio.current_task())
    except RuntimeError:
        return threading.get_ident()
