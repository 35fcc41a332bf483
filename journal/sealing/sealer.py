"""A process's keys: what it wraps and unwraps data keys with, and the data keys that it knows.

Rule: a data key is known by its random id and nothing else. Which one is a session's is asked of the store in each
transaction, for a transaction that made one may have been undone.
"""

from __future__ import annotations

import os
import threading
import time
from collections import OrderedDict
from dataclasses import dataclass, field
from typing import TypeVar

from cryptography.hazmat.primitives.ciphers.aead import AESGCM

from turnwright.journal.errors import InvalidInput, KeyMissing, StoreCorrupt
from turnwright.journal.keyring import KEY_BYTES, NONCE_BYTES, SALT_BYTES, Altered, Keys, opened_with, sealed_with
from turnwright.journal.sealing.providers import KeyProvider
from turnwright.journal.sealing.values import DATA, KEY_ID_BYTES, RING, bytes_of, marked, with_mark

DATA_KEYS_KNOWN_MAX = 10_000
ASK_AGAIN_S = 1.0
NO_KEYS = "the journal is sealed and this process has no keys; add `keys=FILE` to the journal's URL"
WRAPPED, ENLISTED = b"turnwright data key", b"turnwright enlisted"
V = TypeVar("V", bytes, str)


@dataclass(frozen=True, slots=True)
class DataKey:
    """A session's data key as it is stored: wrapped, by the key of that name."""

    key_id: bytes
    wrapped: bytes = field(repr=False)
    wrapped_by: str


class Sealer:
    """Seals and opens values. Without a provider it only says that it has no keys."""

    def __init__(self, provider: KeyProvider | None = None) -> None:
        self._provider = provider
        self._keys: Keys | None = None if provider is None else provider.keys()
        self._asked_s: dict[str, float] = {}
        self._known: OrderedDict[bytes, AESGCM] = OrderedDict()
        self._lock = threading.Lock()

    @property
    def seals(self) -> bool:
        """Whether there are keys, so that all that is written is sealed."""
        return self._keys is not None

    @property
    def newest(self) -> str:
        """The name of the key that wraps."""
        return self._ring().newest

    @property
    def names(self) -> frozenset[str]:
        """The names of all keys."""
        return frozenset() if self._keys is None else frozenset(self._keys.by_name)

    def make(self) -> DataKey:
        """A new data key, wrapped."""
        return self._wrap(os.urandom(KEY_ID_BYTES), os.urandom(KEY_BYTES))

    def rewrap(self, key: DataKey) -> DataKey:
        """The same data key, wrapped by the newest key.

        Raises:
            KeyMissing: the key that wraps it is not among ours, or another one has its name.
        """
        return self._wrap(key.key_id, self._unwrap(key))

    def find(self, key_id: bytes) -> AESGCM | None:
        """What a data key that it knows seals and opens with."""
        with self._lock:
            cipher = self._known.get(key_id)
            if cipher is not None:
                self._known.move_to_end(key_id)
            return cipher

    def learn(self, key: DataKey) -> AESGCM:
        """Unwrap a data key and know it from now on.

        Raises:
            KeyMissing: the key that wraps it is not among ours, or another one has its name.
        """
        return self._remember(key.key_id, self._unwrap(key))

    def forget(self, key_id: bytes) -> None:
        """Know a data key no more: it was destroyed."""
        with self._lock:
            self._known.pop(key_id, None)

    def seal(self, cipher: AESGCM, key_id: bytes, label: str, value: V) -> V:
        """The value under a data key; only under the same label it is opened again."""
        return with_mark(value, DATA, key_id, sealed_with(cipher, bytes_of(value), label.encode()))

    def enlisted(self, value: bytes) -> bytes:
        """A value that belongs to no session yet, under the newest key itself; without keys as it is."""
        if not self.seals:
            return value
        keys, salt = self._ring(), os.urandom(SALT_BYTES)
        cipher, spelled = keys.cipher(keys.newest, salt, ENLISTED), keys.newest.encode()
        return with_mark(value, RING, bytes([len(spelled)]), spelled, salt, sealed_with(cipher, value, spelled))

    def from_enlisted(self, stored: bytes) -> bytes:
        """What `enlisted` was given.

        Raises:
            KeyMissing: the key is not among ours.
            StoreCorrupt: it is not as it was sealed.
        """
        found = marked(stored)
        if found is None:
            return stored
        end = 2 + int.from_bytes(found[1:2])
        if found[:1] != RING or len(found) < end + SALT_BYTES + NONCE_BYTES:
            raise StoreCorrupt("something enlisted is not as it was sealed")
        spelled, salt, sealed = found[2:end], found[end : end + SALT_BYTES], found[end + SALT_BYTES :]
        name = spelled.decode(errors="replace")
        try:
            return opened_with(self._ring_with(name).cipher(name, salt, ENLISTED), sealed, spelled)
        except Altered:
            raise StoreCorrupt(f"something enlisted is not as it was sealed with the key {name!r}") from None

    def _wrap(self, key_id: bytes, key: bytes) -> DataKey:
        keys, salt = self._ring(), os.urandom(SALT_BYTES)  # one ring: another thread may be given new keys meanwhile
        wrapped = salt + sealed_with(keys.cipher(keys.newest, salt, WRAPPED), key, key_id)
        self._remember(key_id, key)
        return DataKey(key_id, wrapped, keys.newest)

    def _unwrap(self, key: DataKey) -> bytes:
        keys = self._ring_with(key.wrapped_by)
        salt, sealed = key.wrapped[:SALT_BYTES], key.wrapped[SALT_BYTES:]
        try:
            return opened_with(keys.cipher(key.wrapped_by, salt, WRAPPED), sealed, key.key_id)
        except Altered:
            raise KeyMissing(
                f"data key {key.key_id.hex()} is not as the key {key.wrapped_by!r} wrapped it: give the one of that "
                "name that did, if this is another; else its row was changed"
            ) from None

    def _ring(self) -> Keys:
        if self._keys is None:
            raise KeyMissing(NO_KEYS)
        return self._keys

    def _ring_with(self, name: str) -> Keys:
        """The keys with that one; they are asked for anew when it is not among those of before."""
        keys = self._ring()
        if name in keys.by_name:
            return keys
        missing = KeyMissing(f"something was sealed with the key {name!r}, which is not among those of this process")
        assert self._provider is not None, "it gave the keys"
        if time.monotonic() - self._asked_s.get(name, -ASK_AGAIN_S) < ASK_AGAIN_S:
            raise missing
        self._asked_s[name] = time.monotonic()
        try:
            keys = self._keys = self._provider.keys()
        except InvalidInput as error:
            raise KeyMissing(
                f"something was sealed with the key {name!r}, and the keys cannot be read: {error}"
            ) from None
        if name not in keys.by_name:
            raise missing
        return keys

    def _remember(self, key_id: bytes, key: bytes) -> AESGCM:
        cipher = AESGCM(key)
        with self._lock:
            self._known[key_id] = cipher
            while len(self._known) > DATA_KEYS_KNOWN_MAX:
                self._known.popitem(last=False)
        return cipher
