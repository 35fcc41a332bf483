"""What passes through Temporal, sealed: its server and its backups hold no payload and no error that can be read.

The file of keys has one a line. The first seals; the others still open what they sealed:

    2026-12  Zk1…=
    2026-06  9fQ…=

Rule: who has no key reads nothing that is sealed and cannot change it unseen, for each payload is sealed whole by
AES-256-GCM. What was never sealed, such as what was written before there were keys, is still read: whoever may write to
Temporal can put such in, so sealing hides and does not replace Temporal's own authorization.
"""

from __future__ import annotations

import base64
import dataclasses
import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF
from temporalio.api.common.v1 import Payload
from temporalio.converter import DataConverter, DefaultFailureConverterWithEncodedAttributes, PayloadCodec

from turnwright.journal.errors import InvalidInput

KEY_BYTES = 32
NONCE_BYTES = 12
SALT_BYTES = 16
KEYS_BYTES_MAX = 64 * 1024
# With random nonces one key may seal 2**32 payloads (NIST SP 800-38D, 8.3); a new salt makes a new one long before.
SEALS_PER_SALT_MAX = 2**24
SALTS_KNOWN_MAX = 1_024
ENCODING, SEALED = "encoding", b"binary/turnwright-sealed"
KEY_NAME = "key"
WANTED = "give a name (letters, digits, . _ -) once, and 32 bytes in base64, such as `openssl rand -base64 32` says"
_NAME = re.compile(r"[A-Za-z0-9._-]{1,64}")


@dataclass(frozen=True)
class Keys:
    """Keys (32 bytes each) by their names; the first seals."""

    by_name: Mapping[str, bytes] = field(repr=False)

    @property
    def newest(self) -> str:
        """The name of the one that seals."""
        return next(iter(self.by_name))


class UnknownKey(ValueError):
    """Something was sealed with a key that this process was not given."""


class Sealing(PayloadCodec):
    """Seals each payload as a whole, and opens what was sealed with any of the keys."""

    def __init__(self, keys: Keys) -> None:
        self._keys = keys
        self._salt, self._sealed = b"", 0
        self._cipher = lru_cache(SALTS_KNOWN_MAX)(self._derived)

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
        name, nonce = self._keys.newest, os.urandom(NONCE_BYTES)
        cipher = self._cipher(name, self._salt)
        data = self._salt + nonce + cipher.encrypt(nonce, payload.SerializeToString(), name.encode())
        return Payload(metadata={ENCODING: SEALED, KEY_NAME: name.encode()}, data=data)

    def _open(self, payload: Payload) -> Payload:
        name = payload.metadata[KEY_NAME].decode(errors="replace")
        if name not in self._keys.by_name:
            raise UnknownKey(f"Temporal holds something sealed with the key {name!r}, which this process was not given")
        salt, rest = payload.data[:SALT_BYTES], payload.data[SALT_BYTES:]
        nonce, sealed = rest[:NONCE_BYTES], rest[NONCE_BYTES:]
        try:
            return Payload.FromString(self._cipher(name, salt).decrypt(nonce, sealed, name.encode()))
        except (InvalidTag, ValueError):
            raise ValueError(f"Temporal holds something that is not as it was sealed with the key {name!r}") from None

    def _derived(self, name: str, salt: bytes) -> AESGCM:
        made = HKDF(algorithm=SHA256(), length=KEY_BYTES, salt=salt, info=SEALED)
        return AESGCM(made.derive(self._keys.by_name[name]))


def read_keys(file: Path) -> Keys:
    """The keys in a file.

    Raises:
        InvalidInput: it cannot be read, or holds something else.
    """
    try:
        with file.open("rb") as opened:
            held = opened.read(KEYS_BYTES_MAX + 1)
        text = held.decode()
    except (OSError, UnicodeDecodeError) as error:
        raise InvalidInput(f"the keys for Temporal cannot be read from {file}: {error}") from None
    if len(held) > KEYS_BYTES_MAX:  # the keys behind would be missing, and with them what they sealed
        raise InvalidInput(
            f"{file} holds more than {KEYS_BYTES_MAX:,} bytes, which is no file of keys; take old ones out"
        )
    keys: dict[str, bytes] = {}
    for number, line in enumerate(text.splitlines(), 1):
        if not line.strip() or line.lstrip().startswith("#"):
            continue
        name, key = _parsed(line.split())
        if key is None or name in keys:
            raise InvalidInput(f"{file}, line {number}: {WANTED}")
        keys[name] = key
    if not keys:
        raise InvalidInput(f"{file} holds no key")
    return Keys(keys)


def converter(keys: Keys | None) -> DataConverter:
    """How payloads are made: sealed, with what errors say, if there are keys."""
    if keys is None:
        return DataConverter.default
    return dataclasses.replace(
        DataConverter.default,
        payload_codec=Sealing(keys),
        failure_converter_class=DefaultFailureConverterWithEncodedAttributes,
    )


def _parsed(words: Sequence[str]) -> tuple[str, bytes | None]:
    if len(words) != 2 or not _NAME.fullmatch(words[0]):  # noqa: PLR2004 - a name and a key
        return "", None
    try:
        key = base64.b64decode(words[1], validate=True)
    except ValueError:
        return words[0], None
    return words[0], key if len(key) == KEY_BYTES else None
