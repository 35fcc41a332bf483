"""The agents: whether they can be loaded, and their models made."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

from turnwright.journal.errors import InvalidInput
from turnwright.worker.agents_check import look_at
from turnwright.worker.doctor.findings import Finding, broken, doubtful, fine
from turnwright.worker.settings import Settings


async def look_at_agents(settings: Settings) -> AsyncIterator[Finding]:
    """Findings about the agents that the settings name."""
    if settings.agents is None:
        yield fine("agents", "none are named here, as for a gateway or a client")
        return
    try:
        seen = await asyncio.to_thread(look_at, settings.agents)
    except InvalidInput as error:
        yield broken("agents", str(error), "mend the module; a worker with it ends at its start")
        return
    for warning in seen.warnings:
        yield doubtful("agents", warning, "its turns fail until that is there")
    if not seen.warnings:
        yield fine("agents", f"{settings.agents} can be loaded, and its models made")
