"""Names of advisory locks and channels.

Rule: they are shared by the whole database, so the schema is part of each; several journals live in one.
"""

import hashlib


def lock_key(schema: str, kind: str, name: str) -> int:
    """The 64 signed bits of an advisory lock."""
    digest = hashlib.sha256(f"turnwright\0{schema}\0{kind}\0{name}".encode()).digest()
    return int.from_bytes(digest[:8], "big", signed=True)


def channel(schema: str) -> str:
    """The channel on which commits are told."""
    return f"turnwright_{schema}"


def topic(key: str) -> str:
    """A key as it travels in a notification: 16 characters, since keys may be longer than one may be."""
    return hashlib.sha256(key.encode()).hexdigest()[:16]
