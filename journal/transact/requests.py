"""Requests and their receipts, remembered for ever per log.

Rule: the same request with the same content gets the first receipt again; with other content it is an error. Only
accepted requests are remembered. What a command leaves at its default is not part of its content, so a field that
a later version adds does not make an old request another one.
"""

from __future__ import annotations

import json
from dataclasses import MISSING, Field, asdict, fields
from typing import Any

from pydantic import BaseModel

from turnwright.journal.canonical import digest_of, encode
from turnwright.journal.commands import ClientCommand, Receipt, Rejection, Submit
from turnwright.journal.script import Script, first

_ADDED = frozenset({"thread"})  # older workers know no receipt with it, and read each other's


def remembered(log_id: int, command: ClientCommand) -> Script[Receipt | None]:
    """The first receipt of a request that is known, or the rejection of another one under its id."""
    row = yield from first("find_request", log_id, command.request_id)
    if row is None:
        return None
    if row[0] == _kind(command) and row[1] == content_digest(command):
        return receipt_again(row[2])
    return reused(command)


def receipt_again(body: bytes) -> Receipt:
    """A receipt that was kept, as a repeated request gets it."""
    return Receipt(**(json.loads(bytes(body)) | {"duplicate": True}))


def reused(command: ClientCommand) -> Receipt:
    """The receipt of a command whose request id was used for another one."""
    reason = f"request id {command.request_id!r} was used for another command; use a new id for a new request"
    return rejected(command, Rejection("request_id_reused", reason))


def remember(log_id: int, command: ClientCommand, receipt: Receipt) -> Script[None]:
    """Keep what was asked for and the receipt it got."""
    body = encode({name: value for name, value in asdict(receipt).items() if name not in _ADDED or value is not None})
    yield from first("insert_request", log_id, command.request_id, _kind(command), content_digest(command), body)


def gone(session_id: int) -> Script[Rejection]:
    """Why nothing happens any more to a session that is hidden; or not yet."""
    if (yield from first("find_import", session_id)) is None:
        return Rejection("session_deleted", "the session was deleted")
    reason = "a session is being imported under this id; wait for it, or import its file again if that was cut off"
    return Rejection("session_importing", reason)


def rejected(command: ClientCommand, rejection: Rejection, revision: int = 0) -> Receipt:
    """The receipt of a command that may not happen."""
    return Receipt(
        request_id=command.request_id,
        status="rejected",
        code=rejection.code,
        reason=rejection.reason,
        turn_id=getattr(command, "turn_id", None),
        revision=revision,
    )


def content_digest(command: ClientCommand) -> str:
    """Of what the command asks for; who asks and under which id are not part of it."""
    return digest_of({name: value for name, value in given(command).items() if name not in command.NOT_CONTENT})


def given(command: ClientCommand) -> dict[str, Any]:
    """The command as JSON, without what it leaves at its default."""
    values = {f.name: value for f in fields(command) if (value := getattr(command, f.name)) != _default(f)}
    return {name: _plain(value) for name, value in values.items()}


def _kind(command: ClientCommand) -> str:
    """A submit is the same request whether it was enlisted or not."""
    return Submit.__name__ if isinstance(command, Submit) else type(command).__name__


def _default(field: Field[Any]) -> object:
    return field.default if field.default_factory is MISSING else field.default_factory()


def _plain(value: Any) -> Any:  # noqa: ANN401 - any JSON value
    if isinstance(value, BaseModel):
        return value.model_dump(mode="json", exclude_defaults=True)
    return [_plain(item) for item in value] if isinstance(value, tuple) else value
