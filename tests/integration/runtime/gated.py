"""A model that answers when the test allows it, so that a command certainly comes during a call."""

import asyncio

from turnwright.activities.models.port import ModelRequest, ModelResponse, Partial
from turnwright.activities.models.router import Models


class GatedModels:
    """Plays the script, holding each answer back. `deaf`: it does not notice that it is cancelled."""

    def __init__(self, *, deaf: bool = False) -> None:
        self._models = Models()
        self._deaf = deaf
        self._allowed = asyncio.Semaphore(0)

    def allow(self, answers: int = 1) -> None:
        """Let so many answers through."""
        for _ in range(answers):
            self._allowed.release()

    async def respond(self, request: ModelRequest, partial: Partial) -> ModelResponse:
        response = await self._models.respond(request, partial)
        while True:
            try:
                await self._allowed.acquire()
                return response
            except asyncio.CancelledError:
                if not self._deaf:
                    raise

    async def check(self, request: ModelRequest) -> None:
        await self._models.check(request)

    async def aclose(self) -> None:
        await self._models.aclose()
