"""Ids of any printable text where HTTP has no room for them: in a path, and in a header.

Rule: what an ordinary id looks like is sent as it is. In a path a part of dots only would be taken for "this folder" or
"the one above", by browsers and libraries alike, so it gets a tilde in front, and one that has tildes before such dots
one more. In a header, text beyond visible ASCII is a Display String (RFC 9651): `%"caf%c3%a9"`.
"""

from __future__ import annotations

import re
from urllib.parse import quote, unquote, unquote_to_bytes

from turnwright.journal.errors import InvalidInput

_DOTS = re.compile(r"~*\.{1,2}")
_PLAIN = re.compile(r"(?!%\")[!-~]([ -~]*[!-~])?")
_DISPLAY = re.compile(r'%"((?:[ !#$&-~]|%[0-9a-f]{2})*)"')
_LITERAL = "".join(chr(code) for code in range(0x20, 0x7F) if chr(code) not in '%"')


def to_path(part: str) -> str:
    """An id as one part of a path."""
    return quote(f"~{part}" if _DOTS.fullmatch(part) else part, safe="")


def from_path(part: str) -> str:
    """The id that stands in a path as that part, still percent-encoded."""
    decoded = unquote(part)
    return decoded[1:] if decoded.startswith("~") and _DOTS.fullmatch(decoded) else decoded


def to_header(value: str) -> str:
    """A text as the value of a header."""
    if _PLAIN.fullmatch(value):
        return value
    coded = re.sub("%[0-9A-F]{2}", lambda found: found[0].lower(), quote(value, safe=_LITERAL))
    return f'%"{coded}"'


def from_header(value: str) -> str:
    """The text that stands in a header as that value.

    Raises:
        InvalidInput: it begins as a Display String and is none.
    """
    if not value.startswith('%"'):
        return value
    found = _DISPLAY.fullmatch(value)
    try:
        if found is not None:
            return unquote_to_bytes(found[1]).decode()
    except UnicodeDecodeError:
        pass
    raise InvalidInput('a header that begins with %" is a Display String (RFC 9651): %xx for each byte of its UTF-8')
