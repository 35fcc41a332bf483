"""A peer: LangGraph with its own savers, a graph of two nodes that carries the same conversation.

Rule: it is at its best: one run of the graph, which keeps the messages in memory, each superstep saved before the next
begins (`durability="sync"`); also with the delta channel, which is in beta. Needs the `bench` extra.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator
from contextlib import AbstractAsyncContextManager, AbstractContextManager, asynccontextmanager, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Protocol, TypedDict

from langchain_core.messages import AIMessage, AnyMessage, HumanMessage, ToolMessage
from langgraph.channels import DeltaChannel
from langgraph.checkpoint.postgres import PostgresSaver
from langgraph.checkpoint.postgres.aio import AsyncPostgresSaver
from langgraph.checkpoint.sqlite import SqliteSaver
from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver
from langgraph.graph import END, START, StateGraph
from langgraph.graph.message import _messages_delta_reducer, add_messages

from benchmarks.history import size_of
from benchmarks.kept import Clock, Kept, by_two, schema_bytes
from benchmarks.step import RESULT_BYTES

SUPERSTEPS_MAX = 1_000_000


class Place(Protocol):
    """Where a saver saves."""

    @property
    def what(self) -> str:
        """Its name in the results."""
        ...

    def blocking_saver(self) -> AbstractContextManager[Any]:
        """A saver for a graph that runs in a thread."""
        ...

    def saver(self) -> AbstractAsyncContextManager[Any]:
        """A saver with a connection of its own."""
        ...

    async def stored_bytes(self) -> int:
        """What all threads take."""
        ...


class Whole(TypedDict):
    """The channel that LangGraph's own agents use: each superstep saves all messages."""

    messages: Annotated[list[AnyMessage], add_messages]


class Delta(TypedDict):
    """The channel that saves what is new, and all of it now and then."""

    messages: Annotated[list[AnyMessage], DeltaChannel(_messages_delta_reducer)]


@dataclass(frozen=True, slots=True)
class LangGraph:
    """The keeper on either store, with either channel."""

    place: Place
    state: type[Whole | Delta] = Whole

    @property
    def what(self) -> str:
        """Its name in the results."""
        channel = ", delta channel (beta)" if self.state is Delta else ""
        return f"LangGraph, its {self.place.what} saver{channel}"

    async def play(self, clock: Clock) -> Kept:
        """One run of the graph; the saver saves after each node."""
        before = await self.place.stored_bytes()
        await asyncio.to_thread(self._run, clock)
        return Kept.of(clock, await self.place.stored_bytes() - before)

    async def lose(self, messages: int) -> float:
        """Each writer invokes the graph with a message of its own, through a saver of its own."""
        thread = {"configurable": {"thread_id": "shared"}}
        async with self.place.saver() as one, self.place.saver() as other:
            apps = [_adding(self.state).compile(checkpointer=saver) for saver in (one, other)]

            async def add(writer: int, number: int) -> None:
                message = HumanMessage("x", id=f"{writer}/{number}")
                await apps[writer].ainvoke({"messages": [message]}, thread, durability="sync")

            acknowledged = await by_two(messages, add)
            kept = (await apps[0].aget_state(thread)).values["messages"]
        return 1 - len(kept) / acknowledged

    def _run(self, clock: Clock) -> None:
        config = {"configurable": {"thread_id": f"steps-{clock.steps}"}, "recursion_limit": SUPERSTEPS_MAX}
        with self.place.blocking_saver() as saver:
            app = _calling(self.state, clock).compile(checkpointer=saver)
            app.invoke({"messages": [HumanMessage("begin", id="begin")]}, config, durability="sync")


def _calling(state: type[Whole | Delta], clock: Clock) -> StateGraph[object]:
    """A model that asks for a page until its time is over, and the tool that gives it."""

    def model(_: object) -> dict[str, object]:
        clock.tick()
        if clock.is_over:
            return {"messages": [AIMessage("It is done.", id="done")]}
        call = {"id": f"call-{clock.done}", "name": "fetch", "args": {"page": clock.done}}
        return {"messages": [AIMessage("", id=f"asked-{clock.done}", tool_calls=[call])]}

    def tools(_: object) -> dict[str, object]:
        number = clock.done
        return {"messages": [ToolMessage("x" * RESULT_BYTES, tool_call_id=f"call-{number}", id=f"told-{number}")]}

    graph = StateGraph(state)
    graph.add_node("model", model)
    graph.add_node("tools", tools)
    graph.add_edge(START, "model")
    graph.add_conditional_edges("model", lambda at: "tools" if at["messages"][-1].tool_calls else END, ["tools", END])
    graph.add_edge("tools", "model")
    return graph


def _adding(state: type[Whole | Delta]) -> StateGraph[object]:
    """A graph that only takes its input."""

    async def nothing(_: object) -> dict[str, object]:
        await asyncio.sleep(0)  # where the model's answer would be awaited
        return {}

    graph = StateGraph(state)
    graph.add_node("nothing", nothing)
    graph.add_edge(START, "nothing")
    return graph


class SqlitePlace:
    """A file, each commit synced, as its driver's defaults are."""

    what = "SQLite"

    def __init__(self, file: Path) -> None:
        self._file = file

    @contextmanager
    def blocking_saver(self) -> Iterator[Any]:
        """A saver for a graph that runs in a thread."""
        with SqliteSaver.from_conn_string(str(self._file)) as saver:
            saver.setup()
            yield saver

    @asynccontextmanager
    async def saver(self) -> AsyncIterator[Any]:
        """A saver with a connection of its own."""
        async with AsyncSqliteSaver.from_conn_string(str(self._file)) as saver:
            await saver.setup()
            yield saver

    async def stored_bytes(self) -> int:
        """The file's size."""
        return size_of(self._file) if self._file.exists() else 0


class PostgresPlace:
    """A database of its own."""

    what = "PostgreSQL"

    def __init__(self, url: str) -> None:
        self._url = url

    @contextmanager
    def blocking_saver(self) -> Iterator[Any]:
        """A saver for a graph that runs in a thread."""
        with PostgresSaver.from_conn_string(self._url) as saver:
            saver.setup()
            yield saver

    @asynccontextmanager
    async def saver(self) -> AsyncIterator[Any]:
        """A saver with a connection of its own."""
        async with AsyncPostgresSaver.from_conn_string(self._url) as saver:
            await saver.setup()
            yield saver

    async def stored_bytes(self) -> int:
        """The tables, with what is stored beside them."""
        return await schema_bytes(self._url, "public")
