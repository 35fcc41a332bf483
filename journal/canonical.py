"""The one way to turn values into bytes: canonical JSON, repaired text, chained hashes.

Rule: equal values give equal bytes on every machine, and what is written can always be read back.
NUL and lone surrogates are replaced by visible characters before encoding, because PostgreSQL text,
JSON decoders and terminals disagree about them; NaN and infinities become their names as text.
"""

from __future__ import annotations

import hashlib
import json
import math
import re
from typing import Any

_UNSTORABLE = re.compile("[\x00\ud800-\udfff]")
_SURROGATE_PAIR = re.compile("[\ud800-\udbff][\udc00-\udfff]")
NUL_SYMBOL = "\u2400"
REPLACEMENT = "\ufffd"


def repair_text(text: str) -> str:
    """Replace what stores cannot hold: NUL by U+2400, a lone surrogate by U+FFFD.

    A surrogate pair written as two code units (output of a UTF-16 source) becomes its character.
    """
    if _UNSTORABLE.search(text) is None:
        return text
    joined = _SURROGATE_PAIR.sub(lambda m: m[0].encode("utf-16", "surrogatepass").decode("utf-16"), text)
    return _UNSTORABLE.sub(lambda m: NUL_SYMBOL if m[0] == "\x00" else REPLACEMENT, joined)


def repair(value: Any) -> Any:  # noqa: ANN401 - any JSON value
    """`repair_text` on every string of a JSON value, keys included; non-finite floats become text."""
    match value:
        case str():
            return repair_text(value)
        case float() if not math.isfinite(value):
            return str(value)
        case dict():
            return {repair_text(str(key)): repair(item) for key, item in value.items()}
        case list() | tuple():
            return [repair(item) for item in value]
        case _:
            return value


def encode(value: Any) -> bytes:  # noqa: ANN401 - any JSON value
    """Canonical JSON bytes: sorted keys, no spaces, UTF-8.

    Raises:
        TypeError: the value is not JSON.
        ValueError: a float is not finite or a text holds a lone surrogate (call `repair` first).
    """
    text = json.dumps(value, ensure_ascii=False, allow_nan=False, sort_keys=True, separators=(",", ":"))
    return text.encode("utf-8")


def digest(*parts: bytes) -> bytes:
    """SHA-256 over length-prefixed parts, 32 bytes; no two lists of parts give the same input."""
    hasher = hashlib.sha256()
    for part in parts:
        hasher.update(len(part).to_bytes(8, "big"))
        hasher.update(part)
    return hasher.digest()


def digest_of(value: Any) -> str:  # noqa: ANN401 - any JSON value
    """Hexadecimal SHA-256 of the canonical form, 64 characters."""
    return digest(encode(repair(value))).hex()
