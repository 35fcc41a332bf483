"""Which log lines are kept, as a file says now: it is read again while the process runs.

    {"level": "info", "levels": {"turnwright.activities.mcp": "debug"}, "sample": {"mcp_connected": 0.01}}

Rule: a file that is wrong changes nothing: what was said before goes on, and the log says what is wrong, once. A sample
has all of a turn or none of it, in every process, and never leaves out a warning or an error.
"""

from __future__ import annotations

import random
import threading
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Literal
from zlib import crc32

from pydantic import BaseModel, ConfigDict, Field, ValidationError
from structlog.typing import EventDict

LogLevel = Literal["debug", "info", "warning", "error"]
Share = Annotated[float, Field(ge=0, le=1)]

LOOK_INTERVAL_S = 1.0
RULES_BYTES_MAX = 64 * 1024
_HASHES = 2**32
_RANKS: Mapping[str, int] = {"debug": 0, "info": 1, "warning": 2, "error": 3, "exception": 3, "critical": 3}


class LogRules(BaseModel):
    """What is kept: `levels` by a logger's name or its beginning, `sample` the part (0 to 1) of an event's lines."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    level: LogLevel | None = None
    levels: dict[str, LogLevel] = Field(default_factory=dict)
    sample: dict[str, Share] = Field(default_factory=dict)

    def keep(self, logger: str, method: str, event: EventDict, least: LogLevel) -> bool:
        """Whether a line is kept; `least` is the level where no rule says one."""
        rank = _RANKS.get(method, _RANKS["info"])
        if rank < _RANKS[self._level_of(logger) or self.level or least]:
            return False
        share = self.sample.get(str(event.get("event")), 1.0)
        return share >= 1 or rank >= _RANKS["warning"] or _point(event.get("turn")) < share

    def _level_of(self, logger: str) -> LogLevel | None:
        while logger:
            if (level := self.levels.get(logger)) is not None:
                return level
            logger = logger.rpartition(".")[0]
        return None


class LogRulesFile:
    """The rules in a file, looked at no more than once a second, when something is logged."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._rules = LogRules()
        self._seen: tuple[int, int, int] | None = None
        self._look_at_s = 0.0
        self._lock = threading.Lock()
        self._wrong = ""

    def look(self) -> tuple[LogRules, str]:
        """The rules now, and what is wrong with the file, the first time that it is."""
        if time.monotonic() < self._look_at_s or not self._lock.acquire(blocking=False):
            return self._rules, ""
        try:
            self._look_at_s = time.monotonic() + LOOK_INTERVAL_S
            wrong = self._read()
            told, self._wrong = wrong if wrong != self._wrong else "", wrong
            return self._rules, told
        finally:
            self._lock.release()

    def _read(self) -> str:
        """What is wrong; empty if nothing is."""
        try:
            stat = self._path.stat()
            seen = (stat.st_ino, stat.st_size, stat.st_mtime_ns)
            if seen == self._seen:
                return self._wrong
            with self._path.open("rb") as file:
                text = file.read(RULES_BYTES_MAX + 1)
            if len(text) > RULES_BYTES_MAX:
                return f"{self._path} has more than {RULES_BYTES_MAX:,} bytes"
            self._rules, self._seen = LogRules.model_validate_json(text), seen
        except FileNotFoundError:
            self._rules, self._seen = LogRules(), None
        except (OSError, ValidationError) as error:
            self._seen = None
            return f"{self._path}: {_sentence(error)}"
        return ""


def _point(turn: object) -> float:
    """Where from 0 to 1 a line falls: lines of one turn at the same place."""
    return random.random() if turn is None else crc32(str(turn).encode()) / _HASHES  # noqa: S311 - it keeps no secret


def _sentence(error: OSError | ValidationError) -> str:
    if isinstance(error, OSError):
        return error.strerror or str(error)
    first = error.errors(include_url=False, include_input=False)[0]
    place = ".".join(str(part) for part in first["loc"])
    return f"{place}: {first['msg']}" if place else first["msg"]
