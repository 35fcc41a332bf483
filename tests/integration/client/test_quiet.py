"""A client in a program writes nothing into its output, and leaves the logs of one that set up its own alone."""

from collections.abc import Iterator

import pytest
import structlog

from turnwright.client import Client


@pytest.fixture(autouse=True)
def logs_as_they_were() -> Iterator[None]:
    """Nobody has set up logs before, and nobody is left with those of this test."""
    structlog.reset_defaults()
    yield
    structlog.reset_defaults()


async def use(journal_url: str) -> None:
    """Connect, and give a command of which Temporal cannot be told."""
    async with Client.connect(journal_url=journal_url, temporal_address="127.0.0.1:9", migrate=True) as client:
        session = client.session("ann", "s")
        await session.create()
        await session.submit("one", agent="any")
        await client.flush()


async def test_standard_output_belongs_to_the_program(sqlite_url: str, capsys: pytest.CaptureFixture[str]) -> None:
    await use(sqlite_url)
    out, err = capsys.readouterr()
    assert out == ""
    assert "wake_not_sent" in err
    assert "journal_opened" not in err


async def test_a_program_that_set_up_its_logs_gets_them_its_own_way(
    sqlite_url: str, capsys: pytest.CaptureFixture[str]
) -> None:
    structlog.configure(processors=[structlog.processors.KeyValueRenderer(key_order=["event"])])
    await use(sqlite_url)
    assert "event='journal_opened'" in capsys.readouterr().out
