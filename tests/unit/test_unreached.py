"""A Temporal that is not reached is told of in a few words, whatever its SDK makes of it."""

import pytest
from temporalio.client import Client

from turnwright.client.unreached import CHARACTERS_MAX, brief
from turnwright.worker import loopback


async def failure(address: str) -> Exception:
    with pytest.raises(RuntimeError) as failed:
        await Client.connect(address)
    return failed.value


async def test_a_refused_connection_is_its_address_and_the_reason() -> None:
    address = f"127.0.0.1:{loopback.find_free()}"
    assert brief(await failure(address)) == f"{address}: Connection refused"


def test_a_host_that_nobody_knows_is_told_without_the_sdk_s_words() -> None:
    error = RuntimeError(
        "Failed client connect: Server connection error: tonic::transport::Error(Transport, ConnectError(ConnectError("
        '"dns error", Custom { kind: Uncategorized, error: "failed to lookup address information: Name or service not '
        'known" })))'
    )
    assert brief(error) == "failed to lookup address information: Name or service not known"


def test_whatever_else_is_cut_and_never_empty() -> None:
    assert brief(ValueError()) == "ValueError"
    assert len(brief(ValueError("x" * 1000))) == CHARACTERS_MAX + 1
