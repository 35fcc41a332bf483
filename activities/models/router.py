"""One model port over all models: the prefix of a name says who answers.

Rule: a worker that only plays scripts never loads a provider's SDK. The first call of a real model
does, in a thread, because that takes a second the event loop does not have.
"""

from __future__ import annotations

import asyncio
import importlib
from typing import cast

from turnwright.activities.models.port import Model, ModelRequest, ModelResponse, Partial
from turnwright.activities.models.scripted import SCRIPTED_PREFIX, ScriptedModel


class Models:
    """Every model by its name: `scripted:…` plays a script, any other name is a provider's."""

    def __init__(self) -> None:
        self._scripted = ScriptedModel()
        self._providers: Model | None = None
        self._loading = asyncio.Lock()

    async def respond(self, request: ModelRequest, partial: Partial) -> ModelResponse:
        """Answer the request with the model it names."""
        return await (await self._of(request)).respond(request, partial)

    async def check(self, request: ModelRequest) -> None:
        """Find out whether the model it names can be sent it."""
        await (await self._of(request)).check(request)

    async def aclose(self) -> None:
        """Close what was opened."""
        if self._providers is not None:
            await self._providers.aclose()

    async def _of(self, request: ModelRequest) -> Model:
        return self._scripted if request.model.startswith(SCRIPTED_PREFIX) else await self._loaded()

    async def _loaded(self) -> Model:
        async with self._loading:
            if self._providers is None:
                module = await asyncio.to_thread(importlib.import_module, "turnwright.activities.models.pydantic_ai")
                self._providers = cast("Model", module.PydanticAIModel())
            return self._providers
