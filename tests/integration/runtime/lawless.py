"""A workflow that does what workflow code must not, or tells what it was loaded with."""

import os
import random
import sys
import time
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from temporalio import workflow

import turnwright.workflows.session
import turnwright.workflows.thread
import turnwright.workflows.turn  # noqa: F401 - loaded as a worker's sandbox loads them

OFFENCES: dict[str, Any] = {
    "clock": lambda: datetime.now(UTC),
    "monotonic clock": time.monotonic,
    "chance": random.random,
    "environment": lambda: os.environ["HOME"],
    "file": lambda: Path("/etc/hostname").read_text(encoding="utf-8"),
}


@workflow.defn
class Lawless:
    """Commits an offence, or with none tells the identity of our modules as it sees them."""

    @workflow.run
    async def run(self, offence: str) -> dict[str, int]:
        if offence:
            OFFENCES[offence]()
        return {name: id(module) for name, module in sys.modules.items() if name.startswith("turnwright.")}
