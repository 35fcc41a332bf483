"""Keys that seal, by their names, one a line. The first seals; the others still open what they sealed:

    2026-12  Zk1…=
    2026-06  9fQ…=

Rule: a key is 32 random bytes in base64, and what it seals says its name, so keys can follow each other while
everything runs.
"""

from __future__ import annotations

import base64
import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF

from turnwright.journal.errors import InvalidInput

KEY_BYTES = 32
NONCE_BYTES = 12
SALT_BYTES = 16
KEYS_BYTES_MAX = 64 * 1024
WANTED = "give a name (letters, digits, . _ -) once, and 32 bytes in base64, such as `openssl rand -base64 32` says"
_NAME = re.compile(r"[A-Za-z0-9._-]{1,64}")


@dataclass(frozen=True)
class Keys:
    """Keys (32 bytes each) by their names; the first seals."""

    by_name: Mapping[str, bytes] = field(repr=False)

    def __post_init__(self) -> None:
        """Raises InvalidInput: there is none, or one of a name or length that none may have."""
        wrong = [name for name, key in self.by_name.items() if not _NAME.fullmatch(name) or len(key) != KEY_BYTES]
        if wrong or not self.by_name:
            raise InvalidInput(f"{wrong[0]!r} is no key: {WANTED}" if wrong else "there is no key")

    @property
    def newest(self) -> str:
        """The name of the one that seals."""
        return next(iter(self.by_name))

    def cipher(self, name: str, salt: bytes, purpose: bytes) -> AESGCM:
        """What the key of that name seals with under that salt, so that no number of values wears the key out."""
        made = HKDF(algorithm=SHA256(), length=KEY_BYTES, salt=salt, info=purpose)
        return AESGCM(made.derive(self.by_name[name]))


class Altered(ValueError):
    """What is to be opened was not sealed with that key, or not for that purpose, or was changed."""


def sealed_with(cipher: AESGCM, plain: bytes, label: bytes) -> bytes:
    """The nonce, then the bytes as the cipher seals them; only with the same label are they opened again."""
    nonce = os.urandom(NONCE_BYTES)
    return nonce + cipher.encrypt(nonce, plain, label)


def opened_with(cipher: AESGCM, sealed: bytes, label: bytes) -> bytes:
    """What `sealed_with` sealed.

    Raises:
        Altered: it is not as that cipher sealed it.
    """
    try:
        return cipher.decrypt(sealed[:NONCE_BYTES], sealed[NONCE_BYTES:], label)
    except (InvalidTag, ValueError):
        raise Altered("not as it was sealed") from None


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
        raise InvalidInput(f"keys cannot be read from {file}: {error}") from None
    if len(held) > KEYS_BYTES_MAX:  # the keys behind would be missing, and with them what they sealed
        raise InvalidInput(
            f"{file} holds more than {KEYS_BYTES_MAX:,} bytes, which is no file of keys; take old ones out"
        )
    return parse_keys(text, str(file))


def parse_keys(text: str, where: str) -> Keys:
    """The keys in a text; `where` says whose it is.

    Raises:
        InvalidInput: it holds something else.
    """
    keys: dict[str, bytes] = {}
    for number, line in enumerate(text.splitlines(), 1):
        if not line.strip() or line.lstrip().startswith("#"):
            continue
        name, key = _parsed(line.split())
        if key is None or name in keys:
            raise InvalidInput(f"{where}, line {number}: {WANTED}")
        keys[name] = key
    if not keys:
        raise InvalidInput(f"{where} holds no key")
    return Keys(keys)


def _parsed(words: Sequence[str]) -> tuple[str, bytes | None]:
    if len(words) != 2 or not _NAME.fullmatch(words[0]):  # noqa: PLR2004 - a name and a key
        return "", None
    try:
        key = base64.b64decode(words[1], validate=True)
    except ValueError:
        return words[0], None
    return words[0], key if len(key) == KEY_BYTES else None
