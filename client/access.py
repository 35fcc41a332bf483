"""What every handle of a client shares: what it is connected to, whose data it is, and who acts."""

from __future__ import annotations

import uuid
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import TypedDict

from turnwright.client.backend import Backend
from turnwright.client.errors import CommandRejected
from turnwright.client.inputs import of_kind
from turnwright.journal.commands import ClientCommand, Receipt, SessionCommand, Submit
from turnwright.journal.errors import InvalidInput
from turnwright.journal.ids import SessionKey, ThreadKey, checked_request_id

REVISIONS_TRIED_MAX = 5


class HowElse(TypedDict, total=False):
    """What may be said with a command that cannot be without a reason.

    `request_id`: yours, to be able to repeat the command safely; else one is made up. `principal`: who, if not
    the client's own. `check=False`: a rejected command is returned as its receipt and not raised.
    """

    request_id: str
    principal: str
    check: bool


class How(HowElse, total=False):
    """What may be said with any command: as `HowElse`, and with `reason` why, for the records."""

    reason: str | None


@dataclass(frozen=True, slots=True)
class Access:
    """A journal as one tenant and principal may use it. `by_credential`: nobody but a credential says who acts."""

    backend: Backend
    tenant: str
    principal: str
    by_credential: bool = False

    def said(self, how: How) -> tuple[str, str, str | None]:
        """Request id, principal and reason of a command.

        Raises:
            InvalidInput: the request id is none, or something is said that no command takes.
        """
        unknown = how.keys() - How.__annotations__.keys()
        if unknown:
            known, named = ", ".join(How.__annotations__), ", ".join(sorted(unknown))
            raise InvalidInput(f"no command takes {named}; beside its own arguments each takes {known}")
        given, reason = how.get("request_id"), how.get("reason")
        request_id = f"r-{uuid.uuid4().hex}" if given is None else checked_request_id(given)
        if reason is not None:
            of_kind("a reason", reason, str, "such as 'stocktaking'")
        principal = of_kind("a principal", how.get("principal", self.principal), str, "such as 'ann'")
        if self.by_credential and principal != self.principal:
            raise InvalidInput(
                f"through a gateway the token says who acts ({self.principal}); use one of {principal}'s"
            )
        return request_id, principal, reason

    async def command(
        self, key: ThreadKey | SessionKey, command: ClientCommand | SessionCommand, *, check: bool
    ) -> Receipt:
        """Carry out a command, and wake what it concerns when it was accepted.

        Raises:
            CommandRejected: it may not happen now, and `check` is set.
            StoreUnavailable: whether it was committed is open; repeat it with the same request id.
        """
        return checked(await self.backend.execute(key, command), check=check, key=key)

    async def enlist(self, key: ThreadKey, command: Submit, connection: object, *, check: bool) -> Receipt:
        """Submit in a transaction of the caller; whoever sees its commit queues the turn and wakes the thread.

        Raises:
            InvalidInput: the connection can be in no transaction of the journal's database, or is in none.
            CommandRejected: it can never be queued, or its request id was used for another, and `check` is set.
        """
        return checked(await self.backend.enlist(key, command, connection), check=check, key=key)

    async def resume(
        self,
        key: ThreadKey | SessionKey,
        build: Callable[[int], ClientCommand | SessionCommand],
        revision: int | None,
        current: Callable[[], Awaitable[int]],
        *,
        check: bool,
    ) -> Receipt:
        """Resume at a revision, or (None) at the current one, whatever others change meanwhile."""
        if revision is not None:
            return await self.command(key, build(revision), check=check)
        receipt = await self.command(key, build(await current()), check=False)
        for _ in range(REVISIONS_TRIED_MAX):
            if receipt.code != "stale_revision":
                break
            receipt = await self.command(key, build(await current()), check=False)
        return checked(receipt, check=check, key=key)


def checked(receipt: Receipt, *, check: bool, key: ThreadKey | SessionKey | None = None) -> Receipt:
    """The receipt, unless it is a rejection that shall be raised; `key` is what the command was for."""
    if check and receipt.status == "rejected":
        raise CommandRejected(receipt, key)
    return receipt
