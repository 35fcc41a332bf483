"""Workers that die one after the other: whoever took over from the last is the next one to be killed.

So each death costs the start of one process, which is there before it is needed.
"""

from collections.abc import Awaitable, Callable
from typing import TypeVar

from tests.faults.harness.worker import Worker
from tests.faults.harness.world import World

T = TypeVar("T")


class Relay:
    """Made by `start`."""

    def __init__(self, world: World, first: Worker) -> None:
        self.worker = first
        self._world = world
        self._next = world.prepare_worker()

    @classmethod
    async def start(cls, world: World) -> "Relay":
        """With a sound worker."""
        return cls(world, await world.start_worker())

    async def take_over(self, fault: str = "") -> Worker:
        """Another one begins, which is to suffer `fault`."""
        self.worker, self._next = self._next, self._world.prepare_worker()
        self.worker.arm(fault)
        await self._world.let_work(self.worker)
        return self.worker

    async def strike(
        self, place: str, give: Callable[[], Awaitable[T]], until_over: Callable[[T, Worker], Awaitable[object]]
    ) -> tuple[T, bool]:
        """Give something to do to a worker that dies at that place, and have another one take over.

        Args:
            place: a point and the how-manieth passing of it.
            give: gives it.
            until_over: waits until that is done, or the worker is dead.

        Returns:
            What `give` gave, and False if all was done before anybody came to the place.
        """
        self.worker.arm(f"kill@{place}")
        given = await give()
        await until_over(given, self.worker)
        struck = not self.worker.is_running
        if struck:
            await until_over(given, await self.take_over())
        return given, struck
