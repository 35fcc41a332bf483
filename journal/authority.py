"""A URL that may hold a password is read whole, or refused: never so that a part of the password is taken for a host.

Rule: messages show what stands behind the `@`, and never what stands before it. A `/`, `?`, `#`, `[` or `@` in a
password moves that border, and the rest of the password would be shown. The refusal shows nothing.
"""

from __future__ import annotations

import re
from typing import Final
from urllib.parse import SplitResult, urlsplit

from turnwright.journal.errors import InvalidInput

REFUSED: Final = (
    "names no host that can be read; in a user's name and password, write / as %2F, ? as %3F, # as %23, @ as %40, "
    ": as %3A, [ as %5B and ] as %5D"
)
_HOST: Final = re.compile(r"(\[[^\[\]@]*\]|[^\[\]:@]*)(:\d*)?")


def split(url: str, what: str) -> SplitResult:
    """The parts of a URL; `what` is what a refusal calls it.

    Raises:
        InvalidInput: its host cannot be told from what stands before it.
    """
    refused = InvalidInput(f"{what} {REFUSED}".strip())
    try:
        parts = urlsplit(url)
    except ValueError:
        raise refused from None
    credentials, at, hosts = parts.netloc.rpartition("@")
    spilt = bool(parts.netloc) and not at and ("@" in parts.path or _is_spilt(parts.query) or "@" in parts.fragment)
    if spilt or "@" in credentials or not all(_HOST.fullmatch(host) for host in hosts.split(",")):
        raise refused
    return parts


def _is_spilt(query: str) -> bool:
    """Whether an `@` stands where no option's value does."""
    return any("@" in option.partition("=")[0] for option in query.split("&"))
