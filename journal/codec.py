"""Entries to stored bytes and back, and the hash chain over them.

Rule: the chain covers everything of an entry that is folded, and of its body the salted digest, so a body can be
erased and the chain still verifies. Position and time are the store's and are not hashed.
"""

from __future__ import annotations

import json
from typing import NamedTuple

from pydantic import ValidationError

from turnwright.journal.canonical import digest, encode
from turnwright.journal.entries import REGISTRY, Erased, Payload, Unreadable
from turnwright.journal.errors import StoreCorrupt, UnknownEntryType
from turnwright.journal.sealing.values import check_opened
from turnwright.journal.upcast import upcast

GENESIS = b"\x00" * 32
PROBLEM_CHARACTERS_MAX = 200
_ADDED_SINCE = frozenset({"extra_forbidden", "literal_error", "union_tag_invalid"})


def body_digest(salt: bytes, body: bytes) -> bytes:
    """What stands for a body in the chain; without the salt it tells nothing about an erased one."""
    return digest(salt, body)


class Link(NamedTuple):
    """What the chain covers of an entry; `content` is the `body_digest`."""

    seq: int
    type: str
    version: int
    entry_id: str
    turn_id: str | None
    run: str | None
    step: int | None
    epoch: int | None
    required: bool
    content: bytes


def chain_hash(prev_hash: bytes, link: Link) -> bytes:
    """The hash of an entry, 32 bytes."""
    *envelope, content = link
    return digest(prev_hash, encode(envelope), content)


def decode(entry_type: str, version: int, body: bytes | None, *, required: bool, thread: str, seq: int) -> Payload:
    """The payload of a stored row, upcast to the current version.

    A body that is whole but for fields or words that did not exist when this code was written is of a newer
    version, not corrupt.

    Raises:
        KeyMissing: the body was sealed with a key that is not among ours.
        UnknownEntryType: a required entry of a type or version this code does not know.
        StoreCorrupt: the body is not what was written; names thread and seq.
    """
    if body is None:
        return Erased(type=entry_type)
    check_opened(body)
    known = REGISTRY.get(entry_type)
    try:
        if known is not None and version == known.VERSION:
            return known.model_validate_json(body)
        raw = None if known is None else upcast(entry_type, version, known.VERSION, json.loads(body))
        if known is not None and raw is not None:
            return known.model_validate(raw)
    except (ValidationError, ValueError, TypeError, LookupError, AttributeError, RecursionError) as error:
        if not is_newer(error):
            raise StoreCorrupt(f"the body of {entry_type} cannot be read: {problem(error)}", thread, seq) from error
    if required:
        raise UnknownEntryType(entry_type, version, f"thread {thread}, seq {seq}")
    return Unreadable(type=entry_type, version=version, raw=body.decode("utf-8", "replace"))


def is_newer(error: Exception) -> bool:
    """Whether all that is wrong is what did not exist when this code was written."""
    return isinstance(error, ValidationError) and all(wrong["type"] in _ADDED_SINCE for wrong in error.errors())


def problem(error: Exception) -> str:
    """What is wrong with stored bytes, on one line."""
    if isinstance(error, ValidationError):
        first = error.errors(include_url=False)[0]
        where = ".".join(map(str, first["loc"]))
        return f"{where}: {first['msg']}" if where else first["msg"]
    return f"{type(error).__name__}: {str(error)[:PROBLEM_CHARACTERS_MAX]}".splitlines()[0]
