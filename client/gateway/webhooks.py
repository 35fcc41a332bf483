"""The routes of webhooks: an operator's, because whoever makes one has the gateway send to any address."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import Path
from pydantic import BaseModel, ConfigDict, Field

from turnwright.client.gateway.commands import RequestId
from turnwright.client.gateway.desk import After, AskedSession, AskedTurn, AtDesk, Limit, WhoAsks, guarded_router
from turnwright.client.gateway.posting import check_receiver
from turnwright.client.on_the_wire import from_path
from turnwright.client.session import Session
from turnwright.client.turn import Turn
from turnwright.journal.transact.listing import Page
from turnwright.journal.webhooks import NewWebhook, Webhook

router = guarded_router("webhooks")
TYPES_MAX = 100
WebhookId = Annotated[str, Path()]


class WebhookWanted(BaseModel):
    """A webhook as it is asked for. `after`: a position to begin behind; else now, or with the turn."""

    model_config = ConfigDict(extra="forbid")

    url: str
    types: Annotated[tuple[str, ...], Field(max_length=TYPES_MAX, description="Types of entries; none: all.")] = ()
    after: Annotated[int | None, Field(ge=0, le=2**53)] = None


@router.post("/sessions/{session}/webhooks", status_code=201)
async def create_session_webhook(
    caller: WhoAsks, desk: AtDesk, key: AskedSession, wanted: WebhookWanted, request_id: RequestId = None
) -> NewWebhook:
    """Have every entry of the session posted to a URL, in order. The secret is in this answer and nowhere else."""
    caller.needs("operator")
    check_receiver(wanted.url, desk.settings.webhooks)
    return await Session(desk.access(caller), key).create_webhook(**_said(wanted, request_id))


@router.get("/sessions/{session}/webhooks")
async def list_session_webhooks(
    caller: WhoAsks, desk: AtDesk, key: AskedSession, after: After = None, limit: Limit = 50
) -> Page[Webhook]:
    """A page of the webhooks of the session and of its turns, oldest first, those that have ended too."""
    caller.needs("operator")
    return await Session(desk.access(caller), key).webhooks(after, limit)


@router.delete("/sessions/{session}/webhooks/{webhook}", status_code=204)
async def delete_session_webhook(caller: WhoAsks, desk: AtDesk, key: AskedSession, webhook: WebhookId) -> None:
    """Remove a webhook of the session or of one of its turns."""
    caller.needs("operator")
    await Session(desk.access(caller), key).delete_webhook(from_path(webhook))


@router.post("/turns/{turn}/webhooks", status_code=201)
async def create_turn_webhook(
    caller: WhoAsks, desk: AtDesk, turn: AskedTurn, wanted: WebhookWanted, request_id: RequestId = None
) -> NewWebhook:
    """Have every entry of the turn posted to a URL, in order and from its first on."""
    caller.needs("operator")
    check_receiver(wanted.url, desk.settings.webhooks)
    handle = Turn(desk.access(caller), turn.key, turn.turn_id)
    return await handle.create_webhook(**_said(wanted, request_id))


@router.get("/turns/{turn}/webhooks")
async def list_turn_webhooks(
    caller: WhoAsks, desk: AtDesk, turn: AskedTurn, after: After = None, limit: Limit = 50
) -> Page[Webhook]:
    """A page of the turn's webhooks, oldest first, those that have ended too."""
    caller.needs("operator")
    return await Turn(desk.access(caller), turn.key, turn.turn_id).webhooks(after, limit)


@router.delete("/turns/{turn}/webhooks/{webhook}", status_code=204)
async def delete_turn_webhook(caller: WhoAsks, desk: AtDesk, turn: AskedTurn, webhook: WebhookId) -> None:
    """Remove a webhook of the turn."""
    caller.needs("operator")
    await Turn(desk.access(caller), turn.key, turn.turn_id).delete_webhook(from_path(webhook))


def _said(wanted: WebhookWanted, request_id: str | None) -> dict[str, Any]:
    return {"url": wanted.url, "types": wanted.types, "after": wanted.after, "request_id": request_id}
