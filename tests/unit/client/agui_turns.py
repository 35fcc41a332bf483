"""Turns as a journal has them, and as an AG-UI front end gets them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from ag_ui_validate.pytest_plugin import assert_valid_agui

from turnwright.client.gateway.agui.fold import Restate, Told, TurnFold
from turnwright.journal import entry_ids
from turnwright.journal.entries import Draft, Entry, ModelResponded, Payload
from turnwright.journal.messages import Block

TURN = "t-0123456789abcdef0123456789abcdef"
AT_US = 1_700_000_000_000_000


def entries(*payloads: Payload, first_seq: int = 1, step: int = 1) -> list[Entry]:
    """Entries of one turn, one after the other."""
    return [
        Draft(f"e-{seq}", payload, turn_id=TURN, step=step).at(seq, AT_US + seq)
        for seq, payload in enumerate(payloads, start=first_seq)
    ]


def answered(*blocks: Block, seq: int, step: int = 1, ordinal: int = 1) -> Entry:
    """The answer of an attempt, under the id that its entry has in a journal."""
    entry_id = entry_ids.model(TURN, step, ordinal, "responded")
    return Draft(entry_id, ModelResponded(ordinal=ordinal, blocks=blocks), turn_id=TURN, step=step).at(seq, AT_US + seq)


def told(fold: TurnFold, read: Iterable[Entry]) -> list[Told]:
    return [one for entry in read for one in fold.add(entry)]


def plain(events: Iterable[Told]) -> list[dict[str, Any]]:
    """The events as a front end reads them."""
    return [
        e.model_dump(mode="json", by_alias=True, exclude={"timestamp"}) for e in events if not isinstance(e, Restate)
    ]


def kinds(events: Iterable[Told]) -> list[str]:
    return ["RESTATE" if isinstance(one, Restate) else str(one.type.value) for one in events]


def assert_conforms(events: Iterable[Told]) -> None:
    """They are a run of the protocol, once it is opened and closed."""
    ids = {"threadId": "th", "runId": "r"}
    body = plain(events)
    whole = [{"type": "RUN_STARTED", **ids}, *body, {"type": "RUN_FINISHED", **ids, "outcome": {"type": "success"}}]
    assert_valid_agui(whole, max_warnings=0)
