"""Which Temporal a client is connected to.

Rule: it is the cluster and the namespace by their own ids, not by an address: behind one address there may be a new
cluster after the old one was lost, and one cluster has many addresses.
"""

from datetime import timedelta

from temporalio.api.workflowservice.v1 import DescribeNamespaceRequest, GetClusterInfoRequest
from temporalio.client import Client
from temporalio.service import RPCError, RPCStatusCode

from turnwright.journal.errors import TurnwrightError
from turnwright.workflows.waking import RPC_TIMEOUT_S

RPC_TIMEOUT = timedelta(seconds=RPC_TIMEOUT_S)
_NOT_TOLD = frozenset({RPCStatusCode.PERMISSION_DENIED, RPCStatusCode.UNIMPLEMENTED, RPCStatusCode.UNAUTHENTICATED})


class TemporalUnreachable(TurnwrightError, ConnectionError):
    """Temporal does not answer; the message says who was asked and what to do."""

    code = "temporal"


async def identify(client: Client) -> str:
    """The ids of the cluster and the namespace, as `cluster/namespace`.

    Raises:
        TemporalUnreachable: it does not answer, or has no such namespace.
    """
    request = DescribeNamespaceRequest(namespace=client.namespace)
    try:
        found = await client.workflow_service.describe_namespace(request, timeout=RPC_TIMEOUT)
    except RPCError as error:
        raise TemporalUnreachable(f"Temporal does not tell of its namespace {client.namespace!r}: {error}") from None
    return f"{await _cluster_id(client)}/{found.namespace_info.id}"


async def _cluster_id(client: Client) -> str:
    """Empty where who may use one namespace is told nothing of the cluster; the namespace's id is unique by itself."""
    try:
        return (await client.workflow_service.get_cluster_info(GetClusterInfoRequest(), timeout=RPC_TIMEOUT)).cluster_id
    except RPCError as error:
        if error.status in _NOT_TOLD:
            return ""
        raise TemporalUnreachable(f"Temporal does not tell which cluster it is: {error}") from None
