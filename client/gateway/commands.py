"""The routes of commands, one for each line of the table in `turnwright.client.command_routes`.

Rule: nothing here decides anything. An accepted command is answered 202 with its receipt, committed; a rejected one
with a problem that holds the receipt. The request id is `Idempotency-Key`, so a repeated request is answered as before.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import Annotated, Any

from fastapi import APIRouter, Body, Depends, Header, Request
from pydantic import BaseModel

from turnwright.client.access import Access, checked
from turnwright.client.command_routes import ROUTES, CommandRoute, Of
from turnwright.client.gateway.caller import Caller
from turnwright.client.gateway.desk import AskedSession, AskedThread, AskedTurn, AtDesk, WhoAsks, guarded_router
from turnwright.client.gateway.edge import note
from turnwright.client.inputs import as_message
from turnwright.client.on_the_wire import from_header
from turnwright.journal import commands as cmd
from turnwright.journal import ids
from turnwright.journal.api_keys import Role
from turnwright.journal.commands import ClientCommand, DeleteSession, Receipt
from turnwright.journal.ids import SessionKey, ThreadKey
from turnwright.journal.schedules import Definition
from turnwright.journal.store_delete import Deleted

HEADER_CHARACTERS_MAX = 12 * ids.ID_PART_CHARACTERS_MAX + 3  # each of at most four bytes, percent-encoded
IdempotencyKey = Annotated[
    str | None,
    Header(
        min_length=1,
        max_length=HEADER_CHARACTERS_MAX,
        description="Your id of this command: a repeated one is answered as it was, and done once.",
    ),
]


def request_id_of(idempotency_key: IdempotencyKey = None) -> str | None:
    """The request id that the caller chose."""
    return None if idempotency_key is None else from_header(idempotency_key)


RequestId = Annotated[str | None, Depends(request_id_of)]
NEEDED_ROLE: Mapping[type[ClientCommand], Role] = {
    cmd.SetSessionBudget: "operator",
    cmd.SetBudget: "operator",
    cmd.SetPermissions: "operator",
    cmd.ChangeState: "operator",
    cmd.UpdateState: "operator",
    cmd.Reconcile: "operator",
    # These two bring back what the agent might do then, which only an operator may loosen.
    cmd.ForkThread: "operator",
    cmd.RewindThread: "operator",
    # It copies a state with its files into another session, to stay there when the origin's is deleted.
    cmd.MakeWhole: "operator",
    cmd.EraseEntry: "admin",
    cmd.DeleteSession: "admin",
}
Endpoint = Callable[..., Awaitable[Receipt]]


def router() -> APIRouter:
    """All of them."""
    made = guarded_router()
    for route in ROUTES:
        made.add_api_route(
            route.path,
            _endpoint(route),
            methods=[route.method],
            status_code=202,
            summary=_summary(route.command),
            operation_id=route.command.__name__ + ("OfLog" if (route.of, route.name) == ("session", "erase") else ""),
            tags=[f"{route.of}s"],
        )
    made.add_api_route(
        "/sessions/{session}", _delete, methods=["DELETE"], summary=_summary(DeleteSession), tags=["sessions"],
        operation_id=DeleteSession.__name__,
    )  # fmt: skip
    return made


def _of_session(route: CommandRoute) -> Endpoint:
    async def endpoint(
        caller: WhoAsks, desk: AtDesk, key: AskedSession, said: BaseModel, request_id: RequestId = None
    ) -> Receipt:
        target = key.log if route.command is cmd.EraseEntry else key
        return await _carry_out(desk.access(caller), caller, route, target, said, request_id)

    return endpoint


def _of_thread(route: CommandRoute) -> Endpoint:
    async def endpoint(
        request: Request,
        caller: WhoAsks,
        desk: AtDesk,
        key: AskedThread,
        said: BaseModel,
        request_id: RequestId = None,
    ) -> Receipt:
        receipt = await _carry_out(desk.access(caller), caller, route, key, said, request_id)
        if receipt.turn_id is not None:
            note(request, turn=receipt.turn_id)
        return receipt

    return endpoint


def _of_turn(route: CommandRoute) -> Endpoint:
    async def endpoint(
        caller: WhoAsks, desk: AtDesk, turn: AskedTurn, said: BaseModel, request_id: RequestId = None
    ) -> Receipt:
        return await _carry_out(desk.access(caller), caller, route, turn.key, said, request_id, turn.turn_id)

    return endpoint


_ENDPOINTS: Mapping[Of, Callable[[CommandRoute], Endpoint]] = {
    "session": _of_session,
    "thread": _of_thread,
    "turn": _of_turn,
}


async def _delete(
    caller: WhoAsks,
    desk: AtDesk,
    key: AskedSession,
    request_id: RequestId = None,
    reason: str | None = None,
    make_forks_whole: bool = False,  # noqa: FBT001, FBT002 - FastAPI gives it by name
) -> Deleted:
    caller.needs("admin")
    access = desk.access(caller)
    given, principal, why = access.said(
        {"reason": reason} if request_id is None else {"request_id": request_id, "reason": reason}
    )
    command = DeleteSession(request_id=given, principal=principal, reason=why, make_forks_whole=make_forks_whole)
    deleted = await access.backend.delete(key, command)
    checked(deleted.receipt, check=True, key=key)
    return deleted


async def _carry_out(
    access: Access,
    caller: Caller,
    route: CommandRoute,
    key: SessionKey | ThreadKey,
    said: BaseModel,
    request_id: str | None,
    turn_id: str | None = None,
) -> Receipt:
    caller.needs(NEEDED_ROLE.get(route.command, "caller"))
    given, principal, _ = access.said({} if request_id is None else {"request_id": request_id})
    fields: dict[str, Any] = {name: _taken(getattr(said, name), name) for name in type(said).model_fields}
    if route.command is cmd.Submit:
        assert isinstance(key, ThreadKey)
        turn_id = ids.turn_id(key, given)
    if turn_id is not None:
        fields["turn_id"] = turn_id
    command = route.command(request_id=given, principal=principal, **fields)
    return await access.command(key, command, check=True)


def _taken(value: Any, name: str) -> Any:  # noqa: ANN401 - any field of a command
    if isinstance(value, Definition):
        return value.model_copy(update={"input": as_message(value.input)})
    return as_message(value) if name in ("input", "message") else value


def _endpoint(route: CommandRoute) -> Endpoint:
    """The route's function, whose argument `said` is annotated with the body that its command needs."""
    endpoint = _ENDPOINTS[route.of](route)
    body = route.make_body()
    needed = any(field.is_required() for field in body.model_fields.values())
    endpoint.__annotations__["said"] = Annotated[body, Body() if needed else Body(default_factory=body)]
    return endpoint


def _summary(command: type[ClientCommand]) -> str:
    return (command.__doc__ or "").strip().splitlines()[0]
