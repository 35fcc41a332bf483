"""A submit that joins a transaction of its caller, on a journal in PostgreSQL."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from turnwright.journal.commands import Receipt, Submit
from turnwright.journal.edge import storable
from turnwright.journal.errors import InvalidInput
from turnwright.journal.ids import ThreadKey
from turnwright.journal.store import Journal
from turnwright.journal.transact.enlisting import look_ahead

if TYPE_CHECKING:
    from turnwright.journal.postgres.enlisting import Ask


def has_inbox(journal: Journal) -> bool:
    """Whether a transaction of somebody else may write to the journal."""
    return journal.driver.dialect == "postgres"


def schema_of(journal: Journal) -> str:
    """The schema whose inbox is written to.

    Raises:
        InvalidInput: the journal is a file, which no caller's transaction can be in.
    """
    schema: str | None = getattr(journal.driver, "schema", None)
    if not has_inbox(journal) or schema is None:
        raise InvalidInput("a submit can join a transaction of its caller only if the journal is in PostgreSQL")
    return schema


async def enlist(journal: Journal, key: ThreadKey, command: Submit, ask: Ask) -> Receipt:
    """Submit in the transaction in which `ask` runs statements: the receipt says `enlisted`, and counts if it commits.

    Rejected is what can be seen to be impossible for ever; what stands against it when it is committed fails the turn.

    Raises:
        InvalidInput: the transaction is not one of the journal's database, or may not write there.
        StoreUnavailable: the journal cannot be asked; nothing was done in the transaction.
    """
    # Here, because who has a file need not wait for the server's client to load.
    from turnwright.journal.postgres import enlisting  # noqa: PLC0415 - who has a file need not load it

    schema, command = schema_of(journal), storable(command)
    await enlisting.check_place(ask, schema)
    journal_id, known = await journal.driver.read(partial(look_ahead, key, command))
    place = enlisting.Place(schema, journal_id, journal.driver.sealer)
    return known or await enlisting.write(ask, place, key, command)
