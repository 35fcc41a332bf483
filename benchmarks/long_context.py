"""A conversation of 2,000 steps with compaction, on SQLite: its last tenth against its first. And the time to the first
word of a real model, against asking the same model directly.

The conversation is 200 turns of ten steps (a model call and a tool result of 1 KB) in one thread, whose model has a
window of 20,000 tokens: about every third turn the oldest messages give way to a summary. What a step takes and leaves
behind must not grow with the steps before it. The first word is counted from `submit` until the caller has it, who
follows the turn; words travel through the journal.
"""

from __future__ import annotations

import os
import time
from collections.abc import AsyncIterator
from contextlib import aclosing, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

from pydantic_ai.messages import ModelRequest
from pydantic_ai.models import ModelRequestParameters
from pydantic_ai.models.openai import OpenAIChatModel
from pydantic_ai.providers.openai import OpenAIProvider
from pydantic_ai.settings import ModelSettings

from benchmarks.agents import MODEL_URL, SPEAKER, SPOKEN_TOKENS_MAX, compacting_agent
from benchmarks.bench import Bench
from benchmarks.figures import Figure, Section
from benchmarks.history import size_of
from benchmarks.rounds import paired
from benchmarks.stack import Stack, temporal_server, working
from benchmarks.stores import sqlite_store
from examples.local_model import MODEL_NAME, LocalModelServer
from turnwright.client.thread import Thread
from turnwright.journal.deltas import Delta
from turnwright.journal.entries import ContextCompacted

TURNS = 200
STEPS_PER_TURN = 10
TENTHS = 10
COMPACTIONS_MIN = 20
WAIT_S_MAX = 120
ROUNDS = 10
QUESTION = "Say a word about the sea."


async def run(bench: Bench) -> Section:
    """Measure on SQLite."""
    turns = TURNS // 5 if bench.quick else TURNS
    async with _stack(bench) as (stack, file, model):
        figures = await _conversation(stack, file, turns)
        figures += [await _first_word(bench, stack, model)]
    return Section("A long conversation", (__doc__ or "").strip(), tuple(figures))


@asynccontextmanager
async def _stack(bench: Bench) -> AsyncIterator[tuple[Stack, Path, str]]:
    with LocalModelServer() as model:
        async with (
            temporal_server(bench.folder) as temporal,
            sqlite_store(bench.folder) as store,
            working(temporal, store, bench.folder, more={MODEL_URL: model.base_url}) as stack,
        ):
            assert store.file is not None
            yield stack, store.file, model.base_url


@dataclass(frozen=True, slots=True)
class _Mark:
    """Where a conversation stands between two turns."""

    at_s: float
    entry_bytes: int
    file_bytes: int


async def _conversation(stack: Stack, file: Path, turns: int) -> list[Figure]:
    thread = await _new_thread(stack, compacting_agent(STEPS_PER_TURN))
    marks = [_Mark(time.perf_counter(), 0, size_of(file))]
    for _ in range(TENTHS):
        for _again in range(turns // TENTHS):
            turn = await thread.submit("begin")
            view = await turn.wait(WAIT_S_MAX)
            assert view.phase == "completed", view
        row = await stack.journal.thread(thread.key)
        assert row is not None
        marks.append(_Mark(time.perf_counter(), row.total_bytes, size_of(file)))
    compactions = await _compactions(stack, thread)
    assert compactions >= COMPACTIONS_MIN * turns / TURNS, f"only {compactions} compactions"
    each = turns * STEPS_PER_TURN // TENTHS
    first, last = (_differences(marks, index, each) for index in (0, TENTHS - 1))
    name = f"the last {each} of {each * TENTHS:,} steps, {compactions} compactions"
    columns = zip(("wall time", "bytes of entries", "SQLite file"), ("ms/step", "B/step", "B/step"), strict=True)
    return [
        Figure(f"{name}: {what}", unit, (own,), f"the first {each}", (other,))
        for (what, unit), own, other in zip(columns, last, first, strict=True)
    ]


def _differences(marks: list[_Mark], tenth: int, steps: int) -> tuple[float, float, float]:
    """Milliseconds, bytes of entries and bytes of the file, each by step."""
    before, after = marks[tenth], marks[tenth + 1]
    return (
        (after.at_s - before.at_s) * 1_000 / steps,
        (after.entry_bytes - before.entry_bytes) / steps,
        (after.file_bytes - before.file_bytes) / steps,
    )


async def _compactions(stack: Stack, thread: Thread) -> int:
    row = await stack.journal.thread(thread.key)
    assert row is not None
    found, after = 0, 0
    while after < row.seq:
        page = await stack.journal.entries(thread.key, after)
        found += sum(isinstance(entry.payload, ContextCompacted) for entry in page)
        after = page[-1].seq
    return found


async def _first_word(bench: Bench, stack: Stack, model_url: str) -> Figure:
    client = OpenAIChatModel(MODEL_NAME, provider=OpenAIProvider(base_url=model_url, api_key="none"))

    async def ours() -> float:
        thread = await _new_thread(stack, SPEAKER)  # the same question each time, and no more before it
        began = time.perf_counter()
        turn = await thread.submit(QUESTION)
        async with aclosing(turn.live()) as items:  # type: ignore[type-var]
            async for item in items:
                if isinstance(item, Delta):
                    return time.perf_counter() - began
        raise AssertionError("the turn ended before a word was heard")

    async def theirs() -> float:
        began = time.perf_counter()
        settings = ModelSettings(max_tokens=SPOKEN_TOKENS_MAX)
        request = client.request_stream([ModelRequest.user_text_prompt(QUESTION)], settings, ModelRequestParameters())
        async with request as answer:
            async for _ in answer:
                return time.perf_counter() - began
        raise AssertionError("the model said nothing")

    taken = await paired(bench.rounds(ROUNDS), ours, theirs)
    return Figure("to the first word of a model", "s", taken[0], "the same model asked directly", taken[1])


async def _new_thread(stack: Stack, agent: str) -> Thread:
    session = stack.client.session(None, f"context-{agent}-{os.urandom(4).hex()}")
    await session.create()
    return session.thread(agent)
