"""What a provider wants back with a block, packed into one opaque text.

Rule: in our messages provider data lives in `Thinking.signature` and nowhere else. A signature alone
stays as it came. Anything more (item ids, details, the endpoint they are good for) is packed as
JSON, and what belongs to a text or a call rides on an empty thinking block right before it. Gemini
refuses a call that comes back without its signature, OpenAI a reasoning item without its id.
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from typing import Any, Literal

from turnwright.activities.jsonable import jsonable
from turnwright.journal.canonical import encode
from turnwright.journal.messages import Thinking

_MARK = '{"carried":'


@dataclass(frozen=True, slots=True)
class Carried:
    """Provider data of one block: `of` says which kind of block it belongs to."""

    of: Literal["thinking", "text", "call"] = "thinking"
    id: str | None = None
    signature: str | None = None
    details: dict[str, Any] | None = None
    url: str | None = None
    system: str | None = None

    @property
    def empty(self) -> bool:
        """Whether there is nothing to bring back."""
        return not (self.id or self.signature or self.details)


def pack(carried: Carried) -> str | None:
    """The text to keep as a signature, or None if there is nothing to keep."""
    if carried.empty:
        return None
    filled = {name: value for name, value in asdict(carried).items() if value}
    if filled.keys() <= {"of", "signature"} and carried.of == "thinking":
        return carried.signature
    # Canonical order puts "carried" before every other key, so the text begins with the mark.
    return encode(jsonable({"carried": 1, **filled}, fallback=str)).decode()


def unpack(block: Thinking) -> Carried:
    """What a thinking block carries; a signature we did not pack is a provider's own."""
    if block.signature is None or not block.signature.startswith(_MARK):
        return Carried(signature=block.signature)
    data = json.loads(block.signature)
    return Carried(**{name: value for name, value in data.items() if name != "carried"})
