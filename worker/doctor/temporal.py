"""Temporal: whether it answers, for this namespace, how long it keeps what has ended, and what it takes at once."""

from __future__ import annotations

from collections.abc import AsyncIterator
from datetime import timedelta
from typing import Final

from temporalio.api.namespace.v1 import NamespaceInfo
from temporalio.api.workflowservice.v1 import DescribeNamespaceRequest, GetSystemInfoRequest
from temporalio.client import Client
from temporalio.service import RPCError, RPCStatusCode

from turnwright.journal.errors import InvalidInput
from turnwright.worker.doctor.findings import Finding, broken, doubtful, fine
from turnwright.worker.settings import Settings
from turnwright.worker.temporal_client import connect
from turnwright.workflows.attributes import known_attributes
from turnwright.workflows.engine import RPC_TIMEOUT, TemporalUnreachable
from turnwright.workflows.ids import SEARCH_ATTRIBUTES

# A workflow that has just ended is looked at again for moments only; people look for longer.
RETENTION_MIN: Final = timedelta(days=1)
# What is sent is ids and numbers; long names, sealed, and a few calls at once are far below this.
BLOB_BYTES_MIN: Final = 64 * 1024


async def look_at_temporal(settings: Settings) -> AsyncIterator[Finding]:
    """Findings, until one stands against the next."""
    try:
        client = await connect(settings)
    except TemporalUnreachable as error:
        yield broken("temporal", str(error), "turns are accepted and wait until it is back")
        return
    except InvalidInput as error:
        yield broken("temporal", str(error), "mend the file that `temporal_keys` names; workers do not start with it")
        return
    where = client.service_client.config.target_host
    info = await client.workflow_service.get_system_info(GetSystemInfoRequest(), timeout=RPC_TIMEOUT)
    yield fine("temporal", f"server {info.server_version} at {where}")
    async for finding in _namespace(client):
        yield finding


async def _namespace(client: Client) -> AsyncIterator[Finding]:
    name = client.namespace
    try:
        asked = DescribeNamespaceRequest(namespace=name)
        told = await client.workflow_service.describe_namespace(asked, timeout=RPC_TIMEOUT)
    except RPCError as error:
        yield _refused(name, error)
        return
    kept = told.config.workflow_execution_retention_ttl.ToTimedelta()
    said = f"{name}, keeps what has ended for {kept}"
    if kept < RETENTION_MIN:
        yield doubtful("namespace", said, "a day at least lets people look at what went wrong")
    else:
        yield fine("namespace", said)
    yield _limits(told.namespace_info.limits)
    missing = sorted(set(SEARCH_ATTRIBUTES) - (await known_attributes(client) or frozenset(SEARCH_ATTRIBUTES)))
    if missing:
        todo = "register them (type Keyword) to find a session's workflows in Temporal's own tools; nothing needs them"
        yield doubtful("search attributes", f"not registered: {', '.join(missing)}", todo)
    else:
        yield fine("search attributes", "registered")


def _limits(limits: NamespaceInfo.Limits) -> Finding:
    """A server that is older does not say them."""
    taken = limits.blob_size_limit_error
    if not taken:
        return fine("limits", "this server does not say them")
    said = f"it takes {taken / 1024:,.0f} KiB at once"
    if taken < BLOB_BYTES_MIN:
        return doubtful("limits", said, f"raise `limit.blobSize.error` of this namespace to {BLOB_BYTES_MIN} at least")
    return fine("limits", said)


def _refused(name: str, error: RPCError) -> Finding:
    if error.status == RPCStatusCode.NOT_FOUND:
        return broken("namespace", f"there is no {name}", f"`temporal operator namespace create --namespace {name}`")
    if error.status in {RPCStatusCode.PERMISSION_DENIED, RPCStatusCode.UNAUTHENTICATED}:
        return broken("namespace", f"{name}: {error.message}", "see the API key or the certificate, and what it may do")
    return broken("namespace", f"{name}: {error.message}", "see Temporal's own log")
