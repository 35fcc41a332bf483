"""The routes of conversations from elsewhere, and for elsewhere.

Rule: a document may be a hundred megabytes, so nothing of it is read on the loop, where everybody else would wait.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from typing import Annotated, Any

from fastapi import Query, Request
from fastapi.responses import Response
from pydantic import BaseModel, ConfigDict, Field

from turnwright.client.access import checked
from turnwright.client.bringing import Brought, WantedConversation
from turnwright.client.gateway.commands import RequestId
from turnwright.client.gateway.desk import AskedThread, AtDesk, Guarded, WhoAsks, guarded_router
from turnwright.client.thread import Thread
from turnwright.client.thread_elsewhere import TheirForm
from turnwright.journal.elsewhere import Format, parsed


class LargeRequest(Request):
    """A request whose body is parsed in a thread."""

    async def json(self) -> Any:  # noqa: ANN401 - as the framework has it
        """What the body says, read as strictly as a document: a key that comes twice may have meant either."""
        return await asyncio.to_thread(parsed, await self.body())


class Large(Guarded):
    """A route for large requests."""

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        """The route's handler, which asks its request for the body."""
        handle = super().get_route_handler()

        async def large(request: Request) -> Response:
            return await handle(LargeRequest(request.scope, request.receive))

        return large


router = guarded_router("threads", route_class=Large)
IMPORT = "/sessions/{session}/threads/{agent}/{thread}/import"


class ConversationBody(BaseModel):
    """A conversation from elsewhere. `trust_permissions`: take also what its permissions allow; for operators."""

    model_config = ConfigDict(extra="forbid")

    form: Annotated[Format, Field(description="What the document is: AgentScope's state, or messages of a provider.")]
    document: dict[str, Any] | list[Any]
    time_zone: Annotated[str | None, Field(description="That of times that name none, such as Europe/Berlin.")] = None
    trust_permissions: bool = False
    reason: str | None = None


@router.post(IMPORT, status_code=202)
async def import_conversation(
    caller: WhoAsks, desk: AtDesk, key: AskedThread, said: ConversationBody, request_id: RequestId = None
) -> Brought:
    """Begin a thread with a conversation from elsewhere. It starts nothing."""
    if said.trust_permissions:
        caller.needs("operator")
    access = desk.access(caller)
    given, principal, _ = access.said({} if request_id is None else {"request_id": request_id})
    wanted = WantedConversation(said.form, said.document, said.time_zone, trust_permissions=said.trust_permissions)
    brought = await access.backend.bring(key, wanted, given, principal, said.reason)
    checked(brought.receipt, check=True, key=key)
    return brought


@router.get("/sessions/{session}/threads/{agent}/{thread}/export")
async def export_conversation(
    caller: WhoAsks,
    desk: AtDesk,
    key: AskedThread,
    form: Annotated[TheirForm, Query(description="Whose form it shall have.")] = "agentscope",
) -> dict[str, Any]:
    """What the agent knows, as another system has it."""
    return await Thread(desk.access(caller), key).export_conversation(form)
