"""A caller in a process of its own, which submits in a transaction and is killed before it commits.

python -m tests.integration.client.enlisting_caller JOURNAL_URL SERVER_URL
"""

import asyncio
import sys

import asyncpg

from tests.integration.client.hands import AGENT
from tests.integration.client.program import NOBODY_THERE
from turnwright.client import Client


async def main(journal_url: str, server_url: str) -> None:
    connection = await asyncpg.connect(server_url)
    client = await Client.connect(journal_url=journal_url, tenant="acme", temporal_address=NOBODY_THERE)
    async with connection.transaction():
        turn = await client.session("ann", "s").submit("hello", agent=AGENT, connection=connection)
        print(turn.id, flush=True)  # noqa: T201 - what the test waits for
        await asyncio.Event().wait()


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:]))
