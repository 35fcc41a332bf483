"""The webhooks of a session and of a turn: who can have them has the same methods.

Rule: they are delivered by gateways; without one that runs, nothing is sent and nothing is lost.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence

from turnwright.client.access import Access
from turnwright.client.errors import NotFound
from turnwright.journal.ids import SessionKey
from turnwright.journal.transact.listing import Page
from turnwright.journal.webhooks import NewWebhook, WantedWebhook, Webhook


class Hooked(ABC):
    """What webhooks can be of."""

    _access: Access

    @abstractmethod
    def _hooked(self) -> tuple[SessionKey, str | None]:
        """The session, and the turn if it is one's."""

    async def create_webhook(
        self, url: str, *, types: Sequence[str] = (), after: int | None = None, request_id: str | None = None
    ) -> NewWebhook:
        """Have what is committed posted to a URL; what comes there, `turnwright.client.webhooks.verify` checks.

        Each entry is posted at least once and in order, signed with the secret that is shown only now. A session's
        webhook begins with what is committed from now on, a turn's with the turn's first entry.

        Args:
            url: where to; https, and a public address unless the gateway is told to trust others.
            types: only entries of these types, such as `turn.completed`; none: all.
            after: begin behind this position of the session instead, such as the one where another webhook stopped.
            request_id: yours, to be able to repeat this safely.

        Raises:
            NotFound: there is no such session or turn.
            InvalidInput: URL, types or position can be none, or the session has as many as it may.
            AccessDenied: through a gateway, the client's token is no operator's.
        """
        key, turn_id = self._hooked()
        given, principal, _ = self._access.said({} if request_id is None else {"request_id": request_id})
        wanted = WantedWebhook(url, tuple(types) if not isinstance(types, str) else (types,), turn_id, after)
        made = await self._access.backend.create_webhook(key, wanted, principal, given)
        if made is None:
            raise self._missing()
        return made

    async def webhooks(self, after: str | None = None, limit: int = 50) -> Page[Webhook]:
        """A page of them, oldest first, those that have ended too; a session's has its turns' as well.

        Raises:
            NotFound: there is no such session or turn.
        """
        page = await self._access.backend.webhooks(*self._hooked(), after, limit)
        if page is None:
            raise self._missing()
        return page

    async def delete_webhook(self, webhook_id: str) -> None:
        """Remove one; nothing is sent to it from then on. Raises `NotFound`."""
        if not await self._access.backend.delete_webhook(*self._hooked(), webhook_id):
            raise NotFound("webhook", webhook_id)

    def _missing(self) -> NotFound:
        key, turn_id = self._hooked()
        return NotFound.session(key) if turn_id is None else NotFound("turn", turn_id)
