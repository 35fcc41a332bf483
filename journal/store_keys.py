"""Making, finding and revoking API keys.

Rule: a secret is shown once and never kept. It is random enough (256 bits) that its plain digest stands for it; two
digests are compared in constant time. A key that was revoked or has expired is as if it had never been.
"""

from __future__ import annotations

import hashlib
import hmac
import secrets
from functools import partial

from turnwright.journal.api_keys import LIFE_S_MAX, ApiKey, Grant, NewKey
from turnwright.journal.driver import Driver
from turnwright.journal.errors import InvalidInput
from turnwright.journal.ids import checked_part
from turnwright.journal.transact import keys
from turnwright.journal.transact.listing import Page

MARK = "tw"
KEYS_LISTED_MAX = 500
NO_DIGEST = bytes(hashlib.sha256().digest_size)


async def create_key(driver: Driver, tenant: str, grant: Grant, *, expires_in_s: int | None = None) -> NewKey:
    """Make a key.

    Raises:
        InvalidInput: the tenant, the name, the user or the time can be none.
    """
    checked_part("tenant", tenant)
    checked_part("name", grant.name)
    if grant.user is not None:
        checked_part("user", grant.user)
    if expires_in_s is not None and not 0 < expires_in_s <= LIFE_S_MAX:
        raise InvalidInput(f"a key is valid for 1 to {LIFE_S_MAX} s or without end, not for {expires_in_s} s")
    key_id, secret = secrets.token_hex(6), secrets.token_urlsafe(32)
    key = await driver.write(partial(keys.insert_key, key_id, tenant, _digest(secret), grant, expires_in_s))
    return NewKey(key, f"{MARK}_{key_id}_{secret}")


async def find_bearer(driver: Driver, token: str) -> ApiKey | None:
    """Whose token it is; None for one that is nobody's, was revoked or has expired."""
    mark, _, rest = token.partition("_")
    key_id, _, secret = rest.partition("_")
    if mark != MARK or not secret or not key_id.isalnum() or not key_id.isascii():
        return None
    found = await driver.read(partial(keys.find_key, key_id))
    kept = NO_DIGEST if found is None else found.digest
    same = hmac.compare_digest(_digest(secret), kept)
    return found.key if found is not None and same and found.valid else None


async def list_keys(driver: Driver, tenant: str, after: str | None = None, limit: int = 50) -> Page[ApiKey]:
    """A page of a tenant's keys, oldest first, those that are no longer valid too."""
    return await driver.read(partial(keys.list_keys, tenant, after, max(1, min(limit, KEYS_LISTED_MAX))))


async def revoke_key(driver: Driver, tenant: str, key_id: str) -> bool:
    """Let a key be valid no more, from its next use on; False when the tenant has none of that id."""
    return await driver.write(partial(keys.revoke_key, tenant, key_id))


def _digest(secret: str) -> bytes:
    return hashlib.sha256(secret.encode()).digest()
