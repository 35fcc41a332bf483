"""How a sealed value looks, and how one that was never sealed is told from it.

    mark, kind     2 + 1 bytes
    kind DATA      the data key's id (16 bytes), nonce (12), what AES-256-GCM made of the value
    kind RING      the wrapping key's name (length, then UTF-8), salt (16), nonce (12), the same
    kind PLAIN     the value as it is: one that begins with the mark itself

A text is the same in base64 behind a mark of its own. Nothing else that a journal writes begins with a mark: JSON
never does, and files that do are written as PLAIN.
"""

from __future__ import annotations

import base64
from typing import TypeVar

from turnwright.journal.errors import JournalError
from turnwright.journal.keyring import Altered

MARK = b"\x00\xf5"
TEXT_MARK = "\x01\ufdd0"
PLAIN, DATA, RING = b"\x00", b"\x01", b"\x02"
KEY_ID_BYTES = 16
V = TypeVar("V", bytes, str)


class Unopened(bytes):
    """A value as it is stored, for it cannot be opened; `error` says why. For rows that are judged one by one."""

    error: JournalError

    @classmethod
    def because(cls, value: bytes | str, error: JournalError) -> Unopened:
        """That value, and why it cannot be opened."""
        made = cls(bytes_of(value))
        made.error = error
        return made


def check_opened(value: object) -> None:
    """Raise why the value cannot be opened, if so."""
    if isinstance(value, Unopened):
        raise value.error


def is_marked(value: object) -> bool:
    """Whether it is marked; what is no text and no bytes never is."""
    if isinstance(value, str):
        return value.startswith(TEXT_MARK)
    return isinstance(value, bytes) and value.startswith(MARK)


def marked(value: object) -> bytes | None:
    """The value's kind and what follows, if it has a mark.

    Raises:
        Altered: it is a text, and what stands behind its mark is not base64 any more.
    """
    if not is_marked(value):
        return None
    if isinstance(value, str):
        try:
            return base64.b64decode(value[len(TEXT_MARK) :], validate=True)[len(MARK) :]
        except ValueError:
            raise Altered("not base64") from None
    return value[len(MARK) :] if isinstance(value, bytes) else None


def with_mark(like: V, kind: bytes, *parts: bytes) -> V:
    """A marked value of the same type as `like`."""
    whole = b"".join((MARK, kind, *parts))
    if isinstance(like, str):
        return TEXT_MARK + base64.b64encode(whole).decode()
    return whole


def escaped(value: V) -> V:
    """The value so that nobody takes it for a sealed one."""
    if not is_marked(value):
        return value
    return with_mark(value, PLAIN, bytes_of(value))


def bytes_of(value: bytes | str) -> bytes:
    """What is sealed of a value."""
    return value.encode() if isinstance(value, str) else bytes(value)
