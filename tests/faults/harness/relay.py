"""Workers that die one after the other: whoever took over from the last is the next one to be killed.

So each death costs the start of one process, which is there before it is needed.
"""

from tests.faults.harness.worker import Worker
from tests.faults.harness.world import World


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
