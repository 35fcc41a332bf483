"""Connecting to a gateway: whose data it is and who acts is what the gateway says of the token."""

from __future__ import annotations

from turnwright.client.access import Access
from turnwright.client.remote.backend import Remote
from turnwright.client.remote.http import Http
from turnwright.journal.errors import InvalidInput


async def gateway_access(url: str, token: str | None) -> Access:
    """What the token's bearer may use.

    Raises:
        InvalidInput: the URL is none of a gateway.
        AccessDenied: the gateway does not take the token.
        StoreUnavailable: it does not answer.
    """
    if not url.startswith(("http://", "https://")):
        raise InvalidInput("a gateway's URL begins with http:// or https://, such as https://agents.example.com")
    http = Http(url, token)
    backend = Remote(http)
    try:
        me = await backend.me()
    except BaseException:
        await http.close()
        raise
    return Access(backend, me.tenant, me.principal, by_credential=True)
