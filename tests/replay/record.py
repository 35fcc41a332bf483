"""Record the histories of this version: `python -m tests.replay.record [scenario …]`.

A release records all of them once. They are never changed afterwards: that is what makes them a test.
"""

import asyncio
import sys
import tempfile
from pathlib import Path

from tests.integration.runtime.cluster import Cluster
from tests.replay import recorded
from tests.replay.scenarios import SCENARIOS, Scenario
from turnwright.worker.temporal_server import TemporalServer


async def record(names: list[str]) -> None:
    async with TemporalServer() as server:
        for name in names:
            await record_one(name, SCENARIOS[name], server.address)
            print(name)  # noqa: T201 - for whoever runs it


async def record_one(name: str, scenario: Scenario, address: str) -> None:
    with tempfile.TemporaryDirectory() as folder:
        async with Cluster.open(f"sqlite:///{folder}/journal.db", address, identity="recorder") as cluster:
            run = await scenario(cluster, Path(folder))
            recorded.write(name, await run.fetch_history())


if __name__ == "__main__":
    asyncio.run(record(sys.argv[1:] or list(SCENARIOS)))
