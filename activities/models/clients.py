"""pydantic-ai's model objects, made once and closed once.

Rule: a model object owns an HTTP client, so one is kept per (name, base URL) and given up only while
nobody uses it. Making one imports its provider's SDK, which takes a second: never in the event loop.
"""

from __future__ import annotations

import asyncio
import os
import re
from collections import OrderedDict
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Final

from pydantic_ai.exceptions import UserError
from pydantic_ai.models import Model as WireModel
from pydantic_ai.models import infer_model
from pydantic_ai.models.openai import OpenAIChatModel
from pydantic_ai.profiles.openai import OpenAIModelProfile
from pydantic_ai.providers.openai_compatible import OpenAICompatibleProvider

from turnwright.activities.models.scripted import SCRIPTED_PREFIX

CLIENTS_MAX = 64
_PROVIDER_NAME: Final = "openai-compatible"
# What pydantic-ai says beside a missing key is about its own agents.
_ADVICE: Final = " To try Pydantic AI"
_ARGUMENT: Final = re.compile(r" or pass it via `[^`]*`")
_PREFIXES: Final = ("openai:", "openai-chat:", "local:")


@dataclass(frozen=True, slots=True)
class Key:
    """What tells one model object from another."""

    name: str
    base_url: str | None = None
    finish_reason_optional: bool = False


@dataclass(slots=True)
class _Entry:
    model: WireModel
    users: int = 0


class Clients:
    """The open model objects of one event loop, least recently used first."""

    def __init__(self) -> None:
        self._open: OrderedDict[Key, _Entry] = OrderedDict()
        self._lock = asyncio.Lock()

    @asynccontextmanager
    async def use(self, key: Key) -> AsyncIterator[WireModel]:
        """The model object of that key, kept open while it is used."""
        async with self._lock:
            entry = self._open.get(key) or await self._make(key)
            self._open.move_to_end(key)
            entry.users += 1
        try:
            yield entry.model
        finally:
            entry.users -= 1

    async def aclose(self) -> None:
        """Close every client."""
        async with self._lock:
            while self._open:
                _, entry = self._open.popitem()
                await entry.model.__aexit__(None, None, None)

    async def _make(self, key: Key) -> _Entry:
        await self._make_room()
        entry = _Entry(await asyncio.to_thread(make_model, key))
        await entry.model.__aenter__()
        self._open[key] = entry
        return entry

    async def _make_room(self) -> None:
        idle = [key for key, entry in self._open.items() if entry.users == 0]
        for key in idle[: max(0, len(self._open) + 1 - CLIENTS_MAX)]:
            await self._open.pop(key).model.__aexit__(None, None, None)


def make_model(key: Key) -> WireModel:
    """A new model object: pydantic-ai's own for a provider's name, OpenAI's chat protocol for a base URL."""
    if key.base_url is None:
        return _inferred(key.name)
    profile = OpenAIModelProfile(
        # Chat templates of open models take one system message, at the beginning.
        supports_inline_system_prompts=False,
        openai_chat_supports_multiple_system_messages=False,
        openai_chat_supports_max_completion_tokens=False,
        # Without it, a stream a proxy closed too early would pass for a whole answer.
        openai_chat_streaming_requires_finish_reason=not key.finish_reason_optional,
    )
    provider = OpenAICompatibleProvider(_PROVIDER_NAME, base_url=key.base_url, api_key=api_key(), profile=profile)
    return OpenAIChatModel(served_name(key.name), provider=provider)


def _inferred(name: str) -> WireModel:
    try:
        return infer_model(name)
    except UserError as error:
        said, advice, _ = str(error).partition(_ADVICE)
        if not advice:
            raise
        set_ = _ARGUMENT.sub("", said)
        raise UserError(f'{set_} To try an agent without a key, give it model="{SCRIPTED_PREFIX}".') from None


def served_name(name: str) -> str:
    """The name as the server at a base URL knows it: `openai:qwen2:0.5b` is its `qwen2:0.5b`."""
    return next((name.removeprefix(prefix) for prefix in _PREFIXES if name.startswith(prefix)), name)


def api_key() -> str:
    """The key for servers at a base URL; one on this machine needs none."""
    return os.environ.get("TURNWRIGHT_MODEL_API_KEY") or os.environ.get("OPENAI_API_KEY") or "local"
