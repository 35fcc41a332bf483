"""Search attributes: whose a workflow is, for people who look for it in Temporal.

Rule: they help where they are registered and are never required. A server refuses a start that names one it
does not know, so it is asked once what it knows; one that will not tell knows none, and one that has
forgotten since (it was set up anew) is given none.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta

from temporalio.api.enums.v1 import IndexedValueType
from temporalio.api.operatorservice.v1 import ListSearchAttributesRequest
from temporalio.client import Client
from temporalio.common import SearchAttributeKey, SearchAttributePair, TypedSearchAttributes
from temporalio.service import RPCError, RPCStatusCode

from turnwright.journal.ids import SessionKey
from turnwright.workflows.ids import SEARCH_ATTRIBUTES

TENANT, USER, SESSION, AGENT, TURN = map(SearchAttributeKey.for_keyword, SEARCH_ATTRIBUTES)
RPC_TIMEOUT_S = 5.0
_AWAY = frozenset({RPCStatusCode.UNAVAILABLE, RPCStatusCode.DEADLINE_EXCEEDED})

Attributes = Mapping[SearchAttributeKey[str], str | None]


class Registered:
    """Which of ours a client's namespace knows."""

    def __init__(self) -> None:
        self._known: frozenset[str] | None = None

    async def choose(self, client: Client, wanted: Attributes) -> TypedSearchAttributes:
        """Those that may be set."""
        if self._known is None:
            self._known = await known_attributes(client)
        known = self._known or frozenset()
        return TypedSearchAttributes(
            [
                SearchAttributePair(key, value)
                for key, value in wanted.items()
                if key.name in known and value is not None
            ]
        )

    def forget(self) -> None:
        """What was known is not true any more."""
        self._known = None


def of_session(key: SessionKey) -> dict[SearchAttributeKey[str], str | None]:
    """Whose session it is."""
    return {TENANT: key.tenant, USER: key.user, SESSION: key.session}


async def known_attributes(client: Client) -> frozenset[str] | None:
    """The names of ours that the namespace has; None: it cannot be asked at the moment."""
    request = ListSearchAttributesRequest(namespace=client.namespace)
    try:
        told = await client.operator_service.list_search_attributes(request, timeout=timedelta(seconds=RPC_TIMEOUT_S))
    except RPCError as error:
        return None if error.status in _AWAY else frozenset()
    keyword = IndexedValueType.INDEXED_VALUE_TYPE_KEYWORD
    return frozenset(name for name in SEARCH_ATTRIBUTES if told.custom_attributes.get(name) == keyword)
