"""What passes through Temporal, sealed: its server and its backups hold no payload and no error that can be read.

Rule: who has no key reads nothing that is sealed and cannot change it unseen, for each payload is sealed whole by
AES-256-GCM. What was never sealed, such as what was written before there were keys, is still read: whoever may write to
Temporal can put such in, so sealing hides and does not replace Temporal's own authorization.
"""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Sequence
from functools import lru_cache, partial

from temporalio.api.common.v1 import Payload
from temporalio.converter import DataConverter, DefaultFailureConverterWithEncodedAttributes, PayloadCodec

from turnwright.journal.keyring import SALT_BYTES, Altered, Keys, opened_with, sealed_with

# With random nonces one key may seal 2**32 payloads (NIST SP 800-38D, 8.3); a new salt makes a new one long before.
SEALS_PER_SALT_MAX = 2**24
SALTS_KNOWN_MAX = 1_024
ENCODING, SEALED = "encoding", b"binary/turnwright-sealed"
KEY_NAME = "key"


class UnknownKey(ValueError):
    """Something was sealed with a key that this process was not given."""


class Sealing(PayloadCodec):
    """Seals each payload as a whole, and opens what was sealed with any of the keys."""

    def __init__(self, keys: Keys) -> None:
        self._keys = keys
        self._salt, self._sealed = b"", 0
        self._cipher = lru_cache(SALTS_KNOWN_MAX)(partial(keys.cipher, purpose=SEALED))

    async def encode(self, payloads: Sequence[Payload]) -> list[Payload]:
        """Seal them with the newest key."""
        return [self._seal(payload) for payload in payloads]

    async def decode(self, payloads: Sequence[Payload]) -> list[Payload]:
        """Open them; what was never sealed is as it is.

        Raises:
            UnknownKey: the key is not among ours.
            ValueError: it was changed, or cut off.
        """
        return [self._open(payload) if payload.metadata.get(ENCODING) == SEALED else payload for payload in payloads]

    def _seal(self, payload: Payload) -> Payload:
        if not self._salt or self._sealed >= SEALS_PER_SALT_MAX:
            self._salt, self._sealed = os.urandom(SALT_BYTES), 0
        self._sealed += 1
        name = self._keys.newest
        cipher = self._cipher(name, self._salt)
        data = self._salt + sealed_with(cipher, payload.SerializeToString(), name.encode())
        return Payload(metadata={ENCODING: SEALED, KEY_NAME: name.encode()}, data=data)

    def _open(self, payload: Payload) -> Payload:
        name = payload.metadata[KEY_NAME].decode(errors="replace")
        if name not in self._keys.by_name:
            raise UnknownKey(f"Temporal holds something sealed with the key {name!r}, which this process was not given")
        salt, sealed = payload.data[:SALT_BYTES], payload.data[SALT_BYTES:]
        try:
            return Payload.FromString(opened_with(self._cipher(name, salt), sealed, name.encode()))
        except Altered:
            raise ValueError(f"Temporal holds something that is not as it was sealed with the key {name!r}") from None


def converter(keys: Keys | None) -> DataConverter:
    """How payloads are made: sealed, with what errors say, if there are keys."""
    if keys is None:
        return DataConverter.default
    return dataclasses.replace(
        DataConverter.default,
        payload_codec=Sealing(keys),
        failure_converter_class=DefaultFailureConverterWithEncodedAttributes,
    )
