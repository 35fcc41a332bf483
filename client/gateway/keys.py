"""The routes of API keys: only an administrator's, and only of the tenant's own."""

from __future__ import annotations

from typing import Annotated

from fastapi import Path
from pydantic import BaseModel, ConfigDict, Field

from turnwright.client.errors import NotFound
from turnwright.client.gateway.desk import After, AtDesk, Limit, WhoAsks, guarded_router
from turnwright.client.on_the_wire import from_path
from turnwright.journal.api_keys import LIFE_S_MAX, ApiKey, Grant, NewKey, Role
from turnwright.journal.transact.listing import Page

router = guarded_router("keys")


class Wanted(BaseModel):
    """A key as it is asked for."""

    model_config = ConfigDict(extra="forbid")

    name: str
    role: Role = "caller"
    user: str | None = None
    expires_in_s: Annotated[int | None, Field(gt=0, le=LIFE_S_MAX)] = None


@router.post("/keys", status_code=201)
async def create_key(caller: WhoAsks, desk: AtDesk, wanted: Wanted) -> NewKey:
    """Make a key. Its token is in this answer and nowhere else."""
    caller.needs("admin")
    grant = Grant(name=wanted.name, role=wanted.role, user=wanted.user)
    return await desk.access(caller).backend.create_key(grant, wanted.expires_in_s)


@router.get("/keys")
async def list_keys(caller: WhoAsks, desk: AtDesk, after: After = None, limit: Limit = 50) -> Page[ApiKey]:
    """A page of the tenant's keys, oldest first."""
    caller.needs("admin")
    return await desk.access(caller).backend.keys(after, limit)


@router.delete("/keys/{api_key}", status_code=204)
async def revoke_key(caller: WhoAsks, desk: AtDesk, api_key: Annotated[str, Path()]) -> None:
    """Let a key be valid no more, from its next use on, and end its open streams."""
    caller.needs("admin")
    if not await desk.access(caller).backend.revoke_key(from_path(api_key)):
        raise NotFound("key", from_path(api_key))
