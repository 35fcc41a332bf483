"""The `interactions` table: a projection of `interaction.*` entries, kept in the transaction of every append."""

from __future__ import annotations

from collections.abc import Iterable

from turnwright.journal.codec import decode
from turnwright.journal.commands import Reconcile, Respond
from turnwright.journal.entries import Entry, InteractionRequested
from turnwright.journal.ids import ThreadKey
from turnwright.journal.interactions import Interaction, Settled, begin_interaction, settlement
from turnwright.journal.script import Row, Script, batch, first
from turnwright.journal.transact.rows import ThreadRow


def find_question(thread_id: int, command: Respond | Reconcile) -> Script[Interaction | None]:
    """The row of the question of its turn that a command settles, open or not."""
    if isinstance(command, Respond):
        row = yield from first("find_interaction", thread_id, command.interaction_id)
    else:
        row = yield from first("find_outcome_question", thread_id, command.turn_id, command.call_id)
    found = None if row is None else Interaction(*row)
    return found if found is not None and found.turn_id == command.turn_id else None


def read_asked(key: ThreadKey, thread_id: int, seq: int) -> Script[InteractionRequested | None]:
    """What the entry that asked says; None when that was erased."""
    row = yield from first("find_payload", thread_id, seq)
    if row is None:
        return None
    kind, version, _, body, _, blob = row
    return asked_of(key, seq, kind, version, blob if body is None else body)


def asked_of(key: ThreadKey, seq: int, kind: str, version: int, stored: bytes | None) -> InteractionRequested | None:
    """The stored payload of the entry that asked."""
    payload = decode(kind, version, stored, required=True, thread=key.canonical, seq=seq)
    return payload if isinstance(payload, InteractionRequested) else None


def project_interactions(row: ThreadRow, entries: Iterable[Entry]) -> Script[None]:
    """Write what the entries say of questions."""
    asked: dict[str, Interaction] = {}
    ended: list[Settled] = []
    for entry in entries:
        question, end = begin_interaction(entry), settlement(entry)
        if question is not None:
            asked[question.interaction_id] = question
        elif end is not None and end.interaction_id in asked:
            asked[end.interaction_id] = end.of(asked[end.interaction_id])
        elif end is not None:
            ended.append(end)
    for question in asked.values():
        yield from first("upsert_interaction", *interaction_columns(row, question))
    for end in ended:
        yield from first(
            "settle_interaction",
            row.id, end.interaction_id, end.state, end.resolution, end.principal, end.seq, end.at_us,
        )  # fmt: skip


def replace_interactions(row: ThreadRow, questions: Iterable[Interaction]) -> Script[None]:
    """Write the thread's questions anew."""
    yield from first("delete_interactions", row.id)
    yield from put_interactions(row, questions)


def put_interactions(row: ThreadRow, questions: Iterable[Interaction]) -> Script[None]:
    """Write these questions of the thread, and leave what else is there."""
    yield from batch("upsert_interaction", tuple(interaction_columns(row, question) for question in questions))


def interaction_columns(row: ThreadRow, question: Interaction) -> Row:
    """The parameters of `upsert_interaction`."""
    return (
        row.id, question.interaction_id, row.session_id, row.key.tenant, question.turn_id, question.kind,
        question.call_id, question.tool, question.state, question.resolution, question.principal, question.asked_seq,
        question.settled_seq, question.asked_us, question.settled_us, question.deadline_us,
    )  # fmt: skip
