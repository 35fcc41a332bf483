"""The port on which Temporal's SDK shows its numbers to this machine."""

import socket
from collections.abc import Iterator

import pytest

from turnwright.worker import loopback
from turnwright.worker.temporal_numbers import TRIES_MAX, TemporalNumbers


@pytest.fixture
def taken() -> Iterator[int]:
    with socket.create_server((loopback.HOST, 0)) as server:
        yield server.getsockname()[1]


async def test_a_port_that_somebody_took_after_the_look_is_given_up_for_another(
    monkeypatch: pytest.MonkeyPatch, taken: int
) -> None:
    ports = iter([taken, loopback.find_free()])
    monkeypatch.setattr(loopback, "find_free", lambda: next(ports))
    assert isinstance(await TemporalNumbers(shown=True).text(), bytes)
    assert next(ports, None) is None


def test_where_every_port_is_taken_it_is_said(monkeypatch: pytest.MonkeyPatch, taken: int) -> None:
    ports = iter([taken] * TRIES_MAX)
    monkeypatch.setattr(loopback, "find_free", lambda: next(ports))
    with pytest.raises(ValueError, match="already in use"):
        TemporalNumbers(shown=True)
    assert next(ports, None) is None


async def test_who_shows_nothing_looks_for_no_port(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(loopback, "find_free", lambda: pytest.fail("nobody may ask"))
    assert await TemporalNumbers(shown=False).text() == b""
