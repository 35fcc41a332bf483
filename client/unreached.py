"""Why Temporal was not reached, in a few words; its SDK tells a refused connection in five nested brackets."""

from __future__ import annotations

import re

CHARACTERS_MAX = 150
_UNREACHED = re.compile(r'connect error", ([^,]+), .*message: "([^"]+)"')
_UNKNOWN_HOST = re.compile(r'"dns error", .*error: "([^"]+)"')


def brief(error: Exception) -> str:
    """The failure for people."""
    text = str(error) or type(error).__name__
    unreached = _UNREACHED.search(text)
    if unreached is not None:
        return f"{unreached[1]}: {unreached[2]}"
    unknown = _UNKNOWN_HOST.search(text)
    if unknown is not None:
        return unknown[1]
    return text if len(text) <= CHARACTERS_MAX else f"{text[:CHARACTERS_MAX]}…"
