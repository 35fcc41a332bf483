"""The same conversation kept by the journal, by LangGraph's savers and by a whole-state upsert, on both stores:
10, 100, 1,000 and 5,000 steps of a model's message and a tool's result of 1 KB; what it takes in all, its last step,
what is stored.

All of them keep the state in memory within the conversation and sync each commit; no workflow engine and no
model is part of it. A step of the journal is four transactions (two claims, two answers) and a read of the state; a
step of the peers is two saves. A conversation that is not over after five minutes is stopped, which its line says:
then the peer's figures are those of the steps it came to. `messages lost` is the part of the acknowledged messages
of two writers on one thread that is not there afterwards.

This takes long and needs the `bench` extra, so it is measured only when it is named.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field

from benchmarks.bench import Bench
from benchmarks.figures import Figure, Section
from benchmarks.history import size_of
from benchmarks.kept import Clock, Keeper, Kept, by_two, schema_bytes
from benchmarks.step import Conversation
from benchmarks.stores import Store, new_database, postgres_server, postgres_store, sqlite_store
from benchmarks.whole_state import PostgresRows, SqliteRows, WholeState
from turnwright.journal.commands import CreateSession, Inject
from turnwright.journal.ids import ThreadKey
from turnwright.journal.messages import user

STEPS = (10, 100, 1_000, 5_000)
LIMIT_S = 300
MESSAGES = 200


async def run(bench: Bench) -> Section:
    """Measure on both stores."""
    figures: list[Figure] = []
    steps = STEPS[:2] if bench.quick else STEPS
    async with _sides(bench) as sides:
        for ours, peers in sides:
            for each in steps:
                figures += await _played(ours, peers, each)
            figures += await _lost(ours, peers, bench.rounds(MESSAGES))
    return Section("Conversations kept elsewhere", (__doc__ or "").strip(), tuple(figures))


@dataclass(slots=True)
class JournalKeeper:
    """The journal, as the activities of one worker use it."""

    store: Store
    what: str = field(init=False)

    def __post_init__(self) -> None:
        self.what = f"journal, {self.store.name}"

    async def play(self, clock: Clock) -> Kept:
        """One turn; the state is read before each model call."""
        before = await self._stored_bytes()
        conversation = await Conversation.begin(self.store.journal, f"kept-{clock.steps}")
        clock.tick()
        while not clock.is_over:
            await self.store.journal.state(conversation.key)
            await conversation.step()
            clock.tick()
        return Kept.of(clock, await self._stored_bytes() - before)

    async def lose(self, messages: int) -> float:
        """Each writer adds through the thread's lock."""
        key = ThreadKey("bench", None, "agent", "shared")
        await self.store.journal.execute(key.session_key, CreateSession(request_id="create"))

        async def add(writer: int, number: int) -> None:
            request = f"{writer}/{number}"
            await self.store.journal.execute(key, Inject(request_id=request, message=user(request)))

        acknowledged = await by_two(messages, add)
        kept = [entry for entry in await self._entries(key) if entry == "input.injected"]
        return 1 - len(kept) / acknowledged

    async def _entries(self, key: ThreadKey) -> list[str]:
        row = await self.store.journal.thread(key)
        assert row is not None
        return [entry.type for entry in await self.store.journal.entries(key, 0, row.seq)]

    async def _stored_bytes(self) -> int:
        if self.store.file is not None:
            return size_of(self.store.file)
        before, _, schema = self.store.url.partition("&schema=")
        return await schema_bytes(before, schema)


@asynccontextmanager
async def _sides(bench: Bench) -> AsyncIterator[list[tuple[JournalKeeper, list[Keeper]]]]:
    """On each store, the journal and its peers."""
    from benchmarks.langgraph_savers import Delta, LangGraph, PostgresPlace, SqlitePlace  # noqa: PLC0415 - its own extra

    async with AsyncExitStack() as opened:
        server = opened.enter_context(postgres_server(bench.folder))
        small = await opened.enter_async_context(sqlite_store(bench.folder))
        large = await opened.enter_async_context(postgres_store(server))
        rows = SqliteRows(bench.folder / "states.db")
        table = await PostgresRows.open(await new_database(server))
        opened.push_async_callback(rows.close)
        opened.push_async_callback(table.close)
        files = [SqlitePlace(bench.folder / f"{name}.db") for name in ("whole", "delta")]
        databases = [PostgresPlace(await new_database(server)) for _ in range(2)]
        yield [
            (JournalKeeper(small), [WholeState(rows), LangGraph(files[0]), LangGraph(files[1], Delta)]),
            (JournalKeeper(large), [WholeState(table), LangGraph(databases[0]), LangGraph(databases[1], Delta)]),
        ]


@dataclass(frozen=True, slots=True)
class _Column:
    what: str
    unit: str
    value: Callable[[Kept], float]


_COLUMNS = (
    _Column("in all", "s", lambda kept: kept.seconds),
    _Column("its last step", "ms", lambda kept: kept.last_step_s * 1_000),
    _Column("stored", "MB", lambda kept: kept.stored_bytes / 1_000_000),
)


async def _played(ours: JournalKeeper, peers: list[Keeper], steps: int) -> list[Figure]:
    own, figures = await ours.play(Clock(steps, LIMIT_S)), []
    for peer in peers:
        other = await peer.play(Clock(steps, LIMIT_S))
        stopped = f", stopped at step {other.steps:,}" if other.steps < steps else ""
        figures += [
            Figure(
                f"{ours.what}: {own.steps:,} steps, {column.what}",
                column.unit,
                (column.value(own),),
                f"{peer.what}{stopped}",
                (column.value(other),),
            )
            for column in _COLUMNS
        ]
    return figures


async def _lost(ours: JournalKeeper, peers: list[Keeper], messages: int) -> list[Figure]:
    own = await ours.lose(messages) * 100
    return [
        Figure(f"{ours.what}: messages lost", "%", (own,), peer.what, (await peer.lose(messages) * 100,))
        for peer in peers
    ]
