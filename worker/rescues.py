"""What a sweeper woke because nobody carried it on, counted by why."""

from collections.abc import MutableMapping
from dataclasses import dataclass

from turnwright.journal.transact.sweeping import Suspect
from turnwright.worker.rousing import Rouser, SecondLook


@dataclass(frozen=True)
class Counted:
    """A rouser whose wake-ups that were given are counted in `rescues`."""

    rouser: Rouser
    rescues: MutableMapping[str, int]

    async def rouse(self, suspect: Suspect) -> SecondLook | None:
        """As `Rouser.rouse`."""
        look = await self.rouser.rouse(suspect)
        self.rescues[suspect.why] += 1
        return look
