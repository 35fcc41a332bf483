"""Conversations that come from elsewhere and go there: what is asked for, and what became of it.

Rule: a document is read before anything is locked, off the event loop, and what is read of it is one command.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from turnwright.journal.commands import ImportThread, Receipt
from turnwright.journal.elsewhere import Conversation, Format, Note, parsed, read_conversation
from turnwright.journal.errors import InvalidInput


@dataclass(frozen=True, slots=True)
class Brought:
    """A conversation that was brought: its receipt, how many messages it has, what was repaired or left out."""

    receipt: Receipt
    messages: int = 0
    notes: tuple[Note, ...] = ()


@dataclass(frozen=True, slots=True)
class WantedConversation:
    """A document in somebody's form, and how it is to be read."""

    form: Format
    document: str | bytes | Mapping[str, Any] | list[Any]
    time_zone: str | None = None
    trust_permissions: bool = False

    async def read(self) -> Conversation:
        """What is in it. Raises `InvalidInput`."""
        return await asyncio.to_thread(
            read_conversation,
            self.form,
            self.document,
            time_zone=self.time_zone,
            trust_permissions=self.trust_permissions,
        )

    async def as_json(self, reason: str | None) -> bytes:
        """What a gateway is asked for. Raises `InvalidInput` if the document is no JSON."""
        return await asyncio.to_thread(self._as_json, reason)

    def _as_json(self, reason: str | None) -> bytes:
        document = parsed(self.document) if isinstance(self.document, str | bytes) else self.document
        said = {
            "form": self.form,
            "document": document,
            "time_zone": self.time_zone,
            "trust_permissions": self.trust_permissions,
            "reason": reason,
        }
        try:
            return json.dumps(said, allow_nan=False).encode("ascii")
        except (TypeError, ValueError, RecursionError) as error:
            raise InvalidInput(f"the document is no JSON: {error}") from error


def bringing(found: Conversation, request_id: str, principal: str, reason: str | None) -> ImportThread:
    """The command that begins a thread with it."""
    return ImportThread(
        request_id=request_id,
        principal=principal,
        reason=reason,
        source=found.source,
        digest=found.digest,
        messages=found.messages,
        state=found.state,
        notes=found.notes,
        blobs=found.blobs,
    )
