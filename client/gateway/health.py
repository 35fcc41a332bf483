"""What whatever runs a gateway asks of it: whether it lives, and whether it can serve.

Rule: anybody may ask, without a credential, so nothing is told but that, and however many ask, the journal is asked
once in a while. A gateway whose journal is away lives: to start it anew would mend nothing.
"""

from __future__ import annotations

from fastapi import APIRouter
from fastapi.responses import PlainTextResponse

from turnwright.client.gateway.desk import AtDesk

LIVES = "/livez"
SERVES = "/readyz"

router = APIRouter(include_in_schema=False)


@router.get(LIVES, response_class=PlainTextResponse)
async def live() -> str:
    """The process answers."""
    return "alive\n"


@router.get(SERVES, response_class=PlainTextResponse)
async def serve(desk: AtDesk) -> str:
    """The journal answers, too."""
    await desk.pulse.check()
    return "ready\n"
