"""Makes the moves of a random fault test, and remembers what was accepted.

Rule: a command is given again under its request id until it is answered, as a careful client does.
"""

import asyncio
import contextlib
import itertools
from collections.abc import Collection
from dataclasses import dataclass

from temporalio.service import RPCError

from tests.faults.harness.chance import Move, What
from tests.faults.harness.crew import Crew
from tests.faults.harness.orders import TO_SESSION, TO_THREAD, TO_TURN, submit
from tests.faults.harness.person import verdict
from tests.faults.harness.worker import DEADLINE_S
from tests.faults.harness.world import POLL_S, World
from turnwright.client import Turn
from turnwright.journal.commands import ClientCommand, Receipt, SessionCommand
from turnwright.journal.errors import StoreUnavailable
from turnwright.journal.ids import SessionKey, ThreadKey


@dataclass(frozen=True)
class Given:
    """An accepted command."""

    key: ThreadKey | SessionKey
    command: ClientCommand | SessionCommand
    receipt: Receipt


class Play:
    """One run."""

    def __init__(self, world: World, crew: Crew, threads: Collection[str]) -> None:
        self.world = world
        self.crew = crew
        self.threads = threads
        self.turns: list[Turn] = []
        self.accepted: list[Given] = []
        self._requests = (f"r{n}" for n in itertools.count(1))

    async def make(self, move: Move) -> None:
        """Make one move."""
        if move.what in TO_TURN:
            await self._order_turn(move)
        elif move.what in TO_THREAD:
            await self.order_thread(move.what, move.thread, muted=move.muted)
        elif move.what in TO_SESSION:
            await self.order_session(move.what, muted=move.muted)
        else:
            await self._do(move)
        self.crew.tend()
        await asyncio.sleep(move.pause_s)

    async def give(
        self, key: ThreadKey | SessionKey, command: ClientCommand | SessionCommand, *, muted: bool = False
    ) -> Receipt:
        """Give a command until it is answered."""
        client = self.world.muted if muted else self.world.client
        async with asyncio.timeout(DEADLINE_S):
            while True:
                with contextlib.suppress(StoreUnavailable):
                    receipt = await client._access.command(key, command, check=False)
                    break
                await asyncio.sleep(POLL_S)
        if receipt.status != "rejected":
            self.accepted.append(Given(key, command, receipt))
        return receipt

    async def order_turn(self, what: What, turn: Turn, *, muted: bool = False) -> None:
        """A command to a turn as it is now."""
        revision = (await turn.status()).revision
        await self.give(turn.key, TO_TURN[what](next(self._requests), turn.id, revision), muted=muted)

    async def order_thread(self, what: What, thread: str, *, muted: bool = False) -> None:
        """A command to a thread as it is now, which may not be there yet."""
        key = self.world.thread(thread).key
        row = await self.world.journal.thread(key)
        revision = 0 if row is None else row.control.pause.revision
        await self.give(key, TO_THREAD[what](next(self._requests), revision), muted=muted)

    async def order_session(self, what: What, *, muted: bool = False) -> None:
        """A command to the session as it is now."""
        key, seen = self.world.session.key, await self.world.session.status()
        await self.give(key, TO_SESSION[what](next(self._requests), seen.control.pause.revision), muted=muted)

    async def answer(self, *, knowing: bool) -> None:
        """Be the person who is asked, wherever anybody is."""
        for turn in self.turns:
            for question in (await turn.status()).questions:
                command = await verdict(self.world, turn, question, next(self._requests), knowing=knowing)
                await self.give(turn.key, command)

    async def _order_turn(self, move: Move) -> None:
        turns = [t for t in self.turns if (await t.status()).phase == "failed"] if move.what == "retry" else self.turns
        if turns:
            await self.order_turn(move.what, turns[-1 - move.back % len(turns)], muted=move.muted)

    async def _do(self, move: Move) -> None:
        match move.what:
            case "submit":
                await self._submit(move)
            case "answer":
                await self.answer(knowing=move.knowing)
            case "kill":
                self.crew.kill(move.worker, move.fault)
            case "terminate":
                self.crew.terminate(move.worker, move.fault)
            case "freeze":
                self.crew.freeze(move.worker, move.harm_s)
            case "cut":
                self.crew.cut(move.worker, move.harm_s, silent=not move.knowing)
            case "terminate_workflow" if self.turns:
                with contextlib.suppress(RPCError):  # there is none
                    await self.world.terminate_workflow(self.turns[-1 - move.back % len(self.turns)])

    async def _submit(self, move: Move) -> None:
        thread = self.world.thread(move.thread)
        command = submit(thread.key, next(self._requests), move)
        receipt = await self.give(thread.key, command, muted=move.muted)
        if receipt.status != "rejected":
            self.turns.append(Turn(thread._access, thread.key, command.turn_id, receipt))
