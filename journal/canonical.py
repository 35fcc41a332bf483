"""The one way to turn values into bytes: canonical JSON, repaired text, chained hashes.

Rule: equal values give equal bytes on every machine, and what is written can always be read back.
NUL and lone surrogates are replaced by visible characters before encoding, because PostgreSQL text,
JSON decoders and terminals disagree about them; NaN and infinities become their names as text. What a
decoder would refuse later (an integer of thousands of digits, a value nested without end) is replaced
before it is written, never discovered when it is read.
"""

from __future__ import annotations

import hashlib
import json
import math
import re
from collections.abc import Mapping
from typing import Any

from turnwright.journal.errors import InvalidInput

NESTING_LEVELS_MAX = 100
INTEGER_BITS_MAX = 14_000
TOO_DEEP = "\ufffd nested too deeply"

_ENCODER = json.JSONEncoder(ensure_ascii=False, allow_nan=False, sort_keys=True, separators=(",", ":"))
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


def repair(value: Any, levels: int = NESTING_LEVELS_MAX) -> Any:  # noqa: ANN401 - any JSON value
    """`repair_text` on every string of a JSON value, keys included; numbers JSON has no room for become text.

    Keys are in the order in which they are stored, so that what goes to a model is the same before and after a rebuild.
    Containers below `levels` levels are replaced by `TOO_DEEP`: the decoder that reads them back stops at 200.

    Raises:
        InvalidInput: something in it is no JSON value.
    """
    match value:
        case str():
            return repair_text(value)
        case float():
            return value if math.isfinite(value) else str(value)
        case int():
            return value if value.bit_length() <= INTEGER_BITS_MAX else hex(value)
        case None:
            return None
        case Mapping() | list() | tuple() if levels <= 0:
            return TOO_DEEP
        case Mapping():
            return {key: repair(item, levels - 1) for key, item in sorted(_repaired_keys(value).items())}
        case list() | tuple():
            return [repair(item, levels - 1) for item in value]
        case _:
            raise InvalidInput(f"{type(value).__name__} is no JSON value; give text, numbers, lists and objects")


def _repaired_keys(value: Mapping[Any, Any]) -> Mapping[str, Any]:
    """The items under storable keys; keys that meet after their repair are told apart by a mark, in one order."""
    changed = [key for key in value if not isinstance(key, str) or _UNSTORABLE.search(key)]
    if not changed:
        return value
    repaired = {key: item for key, item in value.items() if key not in changed}
    for key in sorted(changed, key=lambda k: (type(k).__name__, str(k))):
        name = repair_text(str(key))
        while name in repaired:
            name += REPLACEMENT
        repaired[name] = value[key]
    return repaired


def encode(value: Any) -> bytes:  # noqa: ANN401 - any JSON value
    """Canonical JSON bytes: sorted keys, no spaces, UTF-8.

    Raises:
        TypeError: the value is not JSON.
        ValueError: a float is not finite or a text holds a lone surrogate (call `repair` first).
    """
    return _ENCODER.encode(value).encode("utf-8")


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
