"""One receiver's way through the entries of its session, from where it stands to their end."""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import partial

import structlog

from turnwright.client.gateway.posting import Receiver
from turnwright.client.webhooks import body_of, message_id, signed
from turnwright.journal.errors import UNREADABLE, StoreUnavailable
from turnwright.journal.store import Journal
from turnwright.journal.transact.reading import Located
from turnwright.journal.transact.webhooks import save_failure, save_reached
from turnwright.journal.webhooks import DueWebhook, Failure, RetryTerms

PAGE_ENTRIES = 50

log = structlog.get_logger(__name__)


class Delivering:
    """Delivers to one receiver, once."""

    def __init__(
        self,
        journal: Journal,
        receiver: Receiver,
        due: DueWebhook,
        terms: RetryTerms,
        is_crowded: Callable[[], bool],
    ) -> None:
        self._journal = journal
        self._receiver = receiver
        self._due = due
        self._terms = terms
        self._is_crowded = is_crowded
        self._saved = self._reached = due.position

    async def run(self) -> int | None:
        """The position of the end, once the receiver has come there; None: it has not, or wants nothing more.

        Where others wait for a lane it goes on no longer than a page.

        Raises:
            StoreUnavailable: what was sent last may be sent again.
        """
        try:
            return await self._go_on()
        except StoreUnavailable:
            raise
        except UNREADABLE as error:
            await self._fail(Failure(f"the session cannot be read: {error}", ours=True))
        except Exception as error:
            log.exception("webhook_interrupted", webhook=self._due.webhook_id)
            await self._fail(Failure(f"the gateway failed: {type(error).__name__}", ours=True))
        return None

    async def _go_on(self) -> int | None:
        while page := await self._journal.timeline(self._due.session, self._reached, PAGE_ENTRIES):
            for located in page:
                if not await self._pass(located):
                    return None
            if not await self._save(done=False) or self._is_crowded():  # also what the receiver did not want
                return None
        return self._reached

    async def _pass(self, located: Located) -> bool:
        """Deliver an entry if it is wanted, and come to it; whether to go on."""
        entry = located.entry
        wanted, last = self._due.wants(entry), self._due.ends_with(entry)
        failure = (await self._post(located)) if wanted else None
        if failure is not None:
            await self._fail(failure)
            return False
        self._reached = entry.position
        saved = (await self._save(done=last)) if wanted or last else True
        return saved and not last

    async def _post(self, located: Located) -> Failure | None:
        body, named = body_of(located), message_id(self._due.webhook_id, located.entry.position)
        return await self._receiver.post(signed(self._due.secret, named, body, time.time()), body)

    async def _save(self, *, done: bool) -> bool:
        """Whether the webhook is still there, and where this one left it."""
        if self._reached == self._saved:
            return True
        before, self._saved = self._saved, self._reached
        return await self._journal.driver.write(
            partial(save_reached, self._due.webhook_id, before, self._reached, done=done)
        )

    async def _fail(self, failure: Failure) -> None:
        webhook_id, session = self._due.webhook_id, self._due.session.canonical
        save = partial(save_failure, webhook_id, self._saved, self._reached, failure, self._terms)
        progress = await self._journal.driver.write(save)
        if progress is not None and progress.state == "disabled":
            log.warning("webhook_disabled", webhook=webhook_id, session=session, error=progress.last_error)
        elif progress is not None and progress.tries == 1:
            log.info("webhook_fails", webhook=webhook_id, session=session, error=progress.last_error)
