"""API keys in the store.

Rule: of a secret only its digest is here, and a key is never deleted: a revoked one tells who could do what, and when.
"""

from __future__ import annotations

from dataclasses import dataclass

from turnwright.journal.api_keys import ApiKey, Grant
from turnwright.journal.canonical import encode
from turnwright.journal.durations import SECOND_US
from turnwright.journal.script import Row, Script, first, rows
from turnwright.journal.transact.listing import Page, place_of
from turnwright.journal.transact.rows import clock


@dataclass(frozen=True, slots=True)
class StoredKey:
    """A key with the digest of its secret; `valid` by the store's clock."""

    key: ApiKey
    digest: bytes
    valid: bool


def insert_key(key_id: str, tenant: str, digest: bytes, grant: Grant, expires_in_s: int | None) -> Script[ApiKey]:
    """Keep a new key."""
    now_us = yield from clock()
    expires_us = None if expires_in_s is None else now_us + expires_in_s * SECOND_US
    body = encode(grant.model_dump(mode="json"))
    yield from first("insert_key", key_id, tenant, digest, body, now_us, expires_us or 0)
    return ApiKey(key_id, tenant, grant, now_us, expires_us)


def find_key(key_id: str) -> Script[StoredKey | None]:
    """A key of any tenant by its id."""
    row = yield from first("find_key", key_id)
    if row is None:
        return None
    now_us = yield from clock()
    key = _key_of((key_id, *row))
    valid = key.revoked_us is None and (key.expires_us is None or now_us < key.expires_us)
    return StoredKey(key, bytes(row[1]), valid)


def list_keys(tenant: str, after: str | None, limit: int) -> Script[Page[ApiKey]]:
    """A page of a tenant's keys, oldest first."""
    created_us, key_id = (0, "") if after is None else place_of(after)
    found = yield from rows("keys_of_tenant", tenant, created_us, key_id, limit)
    keys = tuple(_key_of(row) for row in found)
    return Page(keys, f"{keys[-1].created_us}.{keys[-1].key_id}" if len(keys) == limit else None)


def revoke_key(tenant: str, key_id: str) -> Script[bool]:
    """Let a key be valid no more; False when the tenant has none of that id."""
    now_us = yield from clock()
    row = yield from first("revoke_key", tenant, key_id, now_us)
    return row is not None


def _key_of(row: Row) -> ApiKey:
    key_id, tenant, _, body, created_us, expires_us, revoked_us = row
    grant = Grant.model_validate_json(bytes(body))
    return ApiKey(key_id, tenant, grant, created_us, expires_us or None, revoked_us or None)
