"""Making, finding and removing webhooks.

Rule: the secret must be kept, since each delivery is signed with it; it is shown once, to who made the webhook.
"""

from __future__ import annotations

import base64
import secrets
from dataclasses import replace
from functools import partial

from turnwright.journal.canonical import digest
from turnwright.journal.driver import Driver
from turnwright.journal.errors import InvalidInput
from turnwright.journal.ids import SessionKey, checked_part, checked_request_id
from turnwright.journal.transact import webhooks
from turnwright.journal.transact.listing import Page
from turnwright.journal.webhooks import NewWebhook, WantedWebhook, Webhook, checked_types, checked_url

MARK = "whsec_"
SECRET_BYTES = 32
WEBHOOKS_LISTED_MAX = 500


async def create_webhook(
    driver: Driver, key: SessionKey, wanted: WantedWebhook, principal: str, request_id: str
) -> NewWebhook | None:
    """Make a webhook; its principal's repeated request is answered as it was. None: there is no such session, or turn.

    Raises:
        InvalidInput: URL, types, position or request id can be none, or the session has as many as it may.
        RequestIdReused: the request id was used for a different webhook, or by another principal.
    """
    checked_part("principal", principal)
    checked_request_id(request_id)
    if wanted.after is not None and wanted.after < 0:
        raise InvalidInput(f"a webhook begins behind a position of the session, not behind {wanted.after}")
    given = replace(wanted, url=checked_url(wanted.url), types=checked_types(wanted.types))
    webhook_id = "wh-" + digest(key.checked().canonical.encode(), request_id.encode()).hex()[:32]
    secret = MARK + base64.b64encode(secrets.token_bytes(SECRET_BYTES)).decode()
    return await driver.write(partial(webhooks.insert_webhook, webhook_id, key, given, principal, secret))


async def list_webhooks(
    driver: Driver, key: SessionKey, turn_id: str | None = None, after: str | None = None, limit: int = 50
) -> Page[Webhook] | None:
    """A page of a session's webhooks, or of one turn's, oldest first; None when there is no such session or turn."""
    bounded = max(1, min(limit, WEBHOOKS_LISTED_MAX))
    return await driver.read(partial(webhooks.list_webhooks, key, turn_id, after, bounded))


async def delete_webhook(driver: Driver, key: SessionKey, turn_id: str | None, webhook_id: str) -> bool:
    """Remove a webhook; nothing is sent to it from then on. False when the session, or turn, has none of that id."""
    return await driver.write(partial(webhooks.delete_webhook, key, turn_id, webhook_id))
