"""The journal: what the rest of Turnwright calls. Every store behaves alike behind it.

    journal = await Journal.open("sqlite:///journal.db")
    receipt = await journal.execute(key, Submit(...))     # committed when it returns
    outcome = await journal.run(key, RequestModel(...))   # a run's claim, testimony or look
    state = await journal.state(key)                      # AgentState, incrementally

Rule: it adds nothing to what the scripts decide; it runs them, and keeps the states of recently used
threads so that a step reads only what came after the last one.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import AsyncIterator, Callable, Collection, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TypeVar

from turnwright.journal.agent_state import AgentState
from turnwright.journal.commands import (
    ClientCommand,
    CreateSchedule,
    DeleteSession,
    EraseEntry,
    ForkThread,
    MakeWhole,
    Receipt,
    RewindThread,
    RunCommand,
    SessionCommand,
    TriggerSchedule,
)
from turnwright.journal.delays import Delays
from turnwright.journal.driver import Driver, Subscription
from turnwright.journal.drivers import open_driver
from turnwright.journal.enlisted import take_in_first
from turnwright.journal.entries import Entry
from turnwright.journal.errors import InvalidInput
from turnwright.journal.evolve_state import fold_state
from turnwright.journal.ids import SessionKey, ThreadKey
from turnwright.journal.schedules import checked_schedule
from turnwright.journal.script import Script, first
from turnwright.journal.store_ahead import carry_out_ahead, carry_out_erasure
from turnwright.journal.store_deltas import Deltas
from turnwright.journal.transact.ahead import Ahead, Beginning
from turnwright.journal.transact.bases import load_state, read_entry
from turnwright.journal.transact.checkpoints import save_checkpoint
from turnwright.journal.transact.commands import (
    Done,
    Undo,
    session_command,
    thread_command,
    thread_commands,
    trigger_command,
)
from turnwright.journal.transact.deleting import bury_session
from turnwright.journal.transact.dispatch import Dispatch, dispatch_thread
from turnwright.journal.transact.enlisting import EnlistedFirst, after_enlisted
from turnwright.journal.transact.erasing import erase_command
from turnwright.journal.transact.forking import fork_command
from turnwright.journal.transact.making_whole import make_whole_command
from turnwright.journal.transact.reading import (
    PAGE_ENTRIES_MAX,
    Located,
    busy_threads,
    find_blob,
    read_blobs,
    read_heads,
    read_session,
    read_thread,
    read_turn,
)
from turnwright.journal.transact.rows import (
    SessionRow,
    ThreadRow,
    find_session,
    find_thread,
    topic,
)
from turnwright.journal.transact.runs import run_command
from turnwright.journal.transact.thread_script import Outcome, Terms
from turnwright.journal.transact.turns import find_turn_thread
from turnwright.journal.turn_status import TurnStatus

STATES_CACHED_MAX = 256
POLL_S = 1.0
T = TypeVar("T")


@dataclass(slots=True)
class CacheUse:
    """How often a thread's state was at hand, and only what came after it was read, and how often it was not."""

    hits: int = 0
    misses: int = 0


class Journal:
    """A journal on one store."""

    def __init__(self, driver: Driver, terms: Terms | None = None) -> None:
        self.driver = driver
        self.terms = terms or Terms()
        self.delays = Delays()
        self.deltas = Deltas(driver, self.delays)
        self.cache = CacheUse()
        self._states: OrderedDict[ThreadKey, AgentState] = OrderedDict()

    @classmethod
    async def open(cls, url: str, *, migrate: bool = False, terms: Terms | None = None) -> Journal:
        """Connect to the journal at `url`; with `migrate`, bring its tables up to date first.

        Raises:
            InvalidInput: the URL names no store.
            StoreUnavailable: the store cannot be reached.
        """
        driver = open_driver(url)
        await driver.start()
        try:
            if migrate:
                await driver.migrate()
        except BaseException:
            await driver.stop()
            raise
        return cls(driver, terms)

    async def close(self) -> None:
        """Finish what was accepted and disconnect."""
        await self.driver.stop()

    async def journal_id(self) -> str:
        """The journal's own random id, part of every workflow id."""
        row = await self.driver.read(lambda: first("journal_id"))
        assert row is not None
        return str(row[0])

    async def execute(self, key: ThreadKey | SessionKey, command: ClientCommand | SessionCommand) -> Receipt:
        """Carry out a client's command; an accepted receipt is committed, a rejected one changed nothing.

        Raises:
            InvalidInput: the command holds what no journal can keep.
            StoreUnavailable: try again; a repeated request is recognised.
        """
        if isinstance(command, CreateSchedule):
            command = replace(command, definition=checked_schedule(command.definition))
        try:
            done = await self._execute(key, command)
        except Undo as undone:
            return undone.receipt
        if isinstance(command, DeleteSession) and isinstance(key, SessionKey):
            self._forget_session(key)
        if isinstance(command, EraseEntry) and isinstance(key, ThreadKey):
            self.forget(key)
            await self.driver.scrub()
        return done.receipt

    async def _execute(self, key: ThreadKey | SessionKey, command: ClientCommand | SessionCommand) -> Done:
        """Raises `Undo`."""
        if isinstance(key, SessionKey) or key.is_session_log or not isinstance(command, Beginning):
            base = self._states.get(key) if isinstance(key, ThreadKey) else None
            if isinstance(command, EraseEntry) and isinstance(key, ThreadKey):
                erase = partial(erase_command, key, command)
                return await carry_out_erasure(
                    self.driver, key, command, lambda looked: self._carry_out(key, partial(erase, looked))
                )
            return await self._carry_out(key, partial(_script_of, key, command, self.terms, base))
        script = partial(_beginning, key, command, self.terms, self._states.get(key))
        return await carry_out_ahead(
            self.driver, key, command, lambda ahead: self._carry_out(key, partial(script, ahead))
        )

    async def execute_together(
        self, key: ThreadKey, commands: Sequence[ClientCommand], moot: Collection[str]
    ) -> tuple[Receipt, ...]:
        """Carry out a client's commands on a thread in one transaction.

        One that is rejected with a `moot` code is let go; another one undoes them all, and its receipt is the only one.

        Raises:
            InvalidInput: a command holds what no journal can keep.
            StoreUnavailable: try again; repeated requests are recognised.
        """
        try:
            return await self._carry_out(key, partial(thread_commands, key, commands, self.terms, moot))
        except Undo as undone:
            return (undone.receipt,)

    async def _carry_out(self, key: ThreadKey | SessionKey, script: Callable[[], Script[T]]) -> T:
        """Run a command's script; on a thread, after what was enlisted for it and committed before."""
        if isinstance(key, SessionKey):
            return await self.driver.write(script)
        try:
            return await self.driver.write(lambda: _in_order(key, script()))
        except EnlistedFirst:
            await take_in_first(self.driver, key, self.terms)
            return await self.driver.write(script)

    async def run(self, key: ThreadKey, command: RunCommand) -> Outcome:
        """Carry out a command of a run or one of its attempts.

        Raises:
            ThreadGone: the thread does not exist any more.
            StoreUnavailable: try again; a repeated command is recognised.
        """
        base = self._states.get(key)
        outcome = await self.driver.write(lambda: run_command(key, command, self.terms, base))
        self._advance_cached(key, outcome.entries)
        return outcome

    async def dispatch(self, key: ThreadKey) -> Dispatch:
        """Settle the thread and say which turn is next."""
        return await self.driver.write(lambda: dispatch_thread(key, self.terms))

    async def thread(self, key: ThreadKey) -> ThreadRow | None:
        """The thread's head and control now."""
        return await self.driver.read(lambda: find_thread(key))

    async def session(self, key: SessionKey) -> SessionRow | None:
        """The session's control now."""
        return await self.driver.read(lambda: find_session(key))

    async def turn(self, key: ThreadKey, turn_id: str) -> TurnStatus | None:
        """The row of a turn."""
        return await self.driver.read(lambda: read_turn(key, turn_id))

    async def thread_of(self, turn_id: str) -> ThreadKey | None:
        """The thread a turn belongs to."""
        return await self.driver.read(lambda: find_turn_thread(turn_id))

    async def entries(
        self, key: ThreadKey, after_seq: int = 0, limit: int = PAGE_ENTRIES_MAX, until_seq: int | None = None
    ) -> list[Entry]:
        """A page of a thread's entries."""
        return await self.driver.read(lambda: read_thread(key, after_seq, limit, until_seq))

    async def entry(self, key: ThreadKey, seq: int) -> Entry | None:
        """One entry as messages name theirs: below zero it is of the thread this one was forked from."""
        return await self.driver.read(lambda: read_entry(key, seq))

    async def timeline(self, key: SessionKey, after_position: int = 0, limit: int = PAGE_ENTRIES_MAX) -> list[Located]:
        """A page of the entries of all of a session's threads, by position."""
        return await self.driver.read(lambda: read_session(key, after_position, limit))

    async def tail(self, key: SessionKey, after_position: int = 0) -> AsyncIterator[Located]:
        """Every entry of a session after a cursor, for ever; a reader may stop and come back with its last."""
        async with self.watch(key) as watching:
            while True:
                page = await self.timeline(key, after_position)
                for located in page:
                    after_position = located.entry.position
                    yield located
                if not page:
                    await watching.changed(POLL_S)

    async def state(self, key: ThreadKey, at_seq: int | None = None) -> AgentState:
        """The agent's state now, or at an earlier entry.

        Raises:
            StoreCorrupt: it cannot be loaded; never an empty state instead.
        """
        if at_seq is not None:
            return await self.driver.read(lambda: load_state(key, None, at_seq))
        base = self._states.get(key)
        self.cache.hits += base is not None
        self.cache.misses += base is None
        state = await self.driver.read(lambda: load_state(key, base))
        if base is not None and state.as_of_seq < base.as_of_seq:
            self.forget(key)  # the journal was put back to a backup
        self._cache(key, state)
        return state

    async def heads(self, thread_ids: Collection[int]) -> dict[int, int]:
        """The last seq of each of these threads."""
        return await self.driver.read(lambda: read_heads(thread_ids))

    async def busy_threads(self, key: SessionKey, after_thread: int, limit: int) -> dict[int, ThreadKey]:
        """Threads of a session that have an active or queued turn, by id."""
        return await self.driver.read(lambda: busy_threads(key, after_thread, limit))

    async def blobs(self, key: SessionKey, wanted: Collection[str]) -> dict[str, bytes]:
        """The bytes of media stored with a session, by their SHA-256."""
        return {} if not wanted else await self.driver.read(lambda: read_blobs(key, wanted))

    async def blob(self, key: SessionKey, sha256: str) -> bytes | None:
        """The bytes of one of a session's media; None: it has none of that SHA-256."""
        return await self.driver.read(lambda: find_blob(key, sha256))

    async def checkpoint(self, key: ThreadKey, state: AgentState) -> bool:
        """Keep the state as a checkpoint, if enough was written since the last."""
        return await self.driver.write(lambda: save_checkpoint(key, state))

    def watch(self, *keys: ThreadKey | SessionKey) -> Subscription:
        """Watch commits to these threads and sessions (none named: all)."""
        topics: Collection[str] | None = [topic(key) for key in keys] or None
        return self.driver.watch(topics)

    def forget(self, key: ThreadKey) -> None:
        """Drop the cached state of a thread."""
        self._states.pop(key, None)

    def _forget_session(self, key: SessionKey) -> None:
        for known in [known for known in self._states if known.session_key == key]:
            self.forget(known)

    def _advance_cached(self, key: ThreadKey, entries: tuple[Entry, ...]) -> None:
        cached = self._states.get(key)
        if cached is not None and entries and cached.as_of_seq + 1 == entries[0].seq:
            self._cache(key, fold_state(cached, entries))

    def _cache(self, key: ThreadKey, state: AgentState) -> None:
        known = self._states.get(key)
        if known is None or known.as_of_seq <= state.as_of_seq:
            self._states[key] = state
        self._states.move_to_end(key)
        while len(self._states) > STATES_CACHED_MAX:
            self._states.popitem(last=False)


def _in_order(key: ThreadKey, script: Script[T]) -> Script[T]:
    """Raises `EnlistedFirst` if something is to be taken in before."""
    yield from after_enlisted(key)
    return (yield from script)


def _script_of(
    key: ThreadKey | SessionKey, command: ClientCommand | SessionCommand, terms: Terms, base: AgentState | None
) -> Script[Done]:
    if isinstance(command, DeleteSession):
        return _deletion(key, command)
    if isinstance(command, TriggerSchedule) and isinstance(key, SessionKey):
        return trigger_command(key, command, terms)
    if isinstance(key, SessionKey):
        return session_command(key, command)  # type: ignore[arg-type]
    if key.is_session_log:
        raise InvalidInput("a session's log takes only the session's commands; give the session's key")
    return thread_command(key, command, terms, base)


def _beginning(
    key: ThreadKey, command: Beginning, terms: Terms, base: AgentState | None, ahead: Ahead | None
) -> Script[Done]:
    match command:
        case ForkThread():
            return fork_command(key, command, ahead)
        case MakeWhole():
            return make_whole_command(key, command, ahead)
        case RewindThread():
            return thread_command(key, command, terms, base if ahead is None else ahead.now, ahead)


def _deletion(key: ThreadKey | SessionKey, command: DeleteSession) -> Script[Done]:
    """Only the tombstone; `store_delete.delete_session` also erases what is in the session."""
    if isinstance(key, ThreadKey):
        raise InvalidInput("a session is deleted as a whole; give the session's key")
    return Done((yield from bury_session(key, command)))
