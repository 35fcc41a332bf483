"""Writing to the inbox in a transaction that is not ours.

Rule: the connection and its errors are the caller's. Whatever can be seen to be wrong is said before a statement could
fail, since one that fails undoes all that the caller did. Nothing here waits, or makes anybody of ours wait.
"""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from turnwright.journal.commands import Receipt, Submit
from turnwright.journal.errors import InvalidInput
from turnwright.journal.ids import ThreadKey
from turnwright.journal.postgres.locks import channel, topic
from turnwright.journal.sealing.sealer import Sealer
from turnwright.journal.statements import statement
from turnwright.journal.transact.enlisting import body_of, receipt_of
from turnwright.journal.transact.posting import TOPIC

Ask: TypeAlias = Callable[..., Awaitable[Sequence[Sequence[Any]]]]
"""Runs a statement with its parameters on the caller's connection; gives the rows."""

SCHEMA_MARK = "journal_schema."


@dataclass(frozen=True, slots=True)
class Place:
    """The journal that is written to, and what its content is sealed with."""

    schema: str
    journal_id: str
    sealer: Sealer


async def check_place(ask: Ask, schema: str) -> None:
    """See that a row may be written there.

    Raises:
        InvalidInput: it may not.
    """
    [(there, granted, writable)] = await ask(statement("postgres", "enlist_place").sql, schema)
    if not there:
        raise InvalidInput(
            f"the connection's database has no journal of this version in the schema {schema}; "
            "a submit can join a transaction of the journal's own database only"
        )
    if not granted:
        raise InvalidInput(
            f"the connection's user may not write to the inbox: GRANT USAGE ON SCHEMA {schema}, "
            f"SELECT, INSERT ON {schema}.inbox and SELECT ON {schema}.meta to it"
        )
    if not writable:
        raise InvalidInput("the connection's transaction is read-only; give one that may write")


async def write(ask: Ask, place: Place, key: ThreadKey, command: Submit) -> Receipt:
    """Write the command to the inbox, unless the transaction sees it there already.

    Raises:
        InvalidInput: the journal in that database is another one.
        KeyMissing: the transaction sees it there, sealed with a key that is not among ours.
    """
    [(same_journal, known)] = await ask(
        statement("postgres", "enlist").sql.replace(SCHEMA_MARK, f'"{place.schema}".'),
        place.journal_id,
        key.canonical,
        key.session_key.canonical,
        command.turn_id,
        command.request_id,
        place.sealer.enlisted(body_of(command)),
        channel(place.schema),
        topic(TOPIC),
    )
    if not same_journal:
        raise InvalidInput(
            "the connection's database holds another journal than the client's; "
            "a submit can join a transaction of the journal's own database only"
        )
    return receipt_of(command, None if known is None else place.sealer.from_enlisted(bytes(known)))
