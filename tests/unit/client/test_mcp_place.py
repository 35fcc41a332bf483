"""Where the MCP server listens over HTTP: this machine, and nowhere else."""

import pytest

from turnwright.client.mcp.server import checked_place
from turnwright.journal.errors import InvalidInput


@pytest.mark.parametrize(
    ("place", "taken"),
    [("127.0.0.1:8848", ("127.0.0.1", 8848)), ("localhost:1", ("localhost", 1)), ("[::1]:65535", ("::1", 65_535))],
)
def test_this_machine_is_taken(place: str, taken: tuple[str, int]) -> None:
    assert checked_place(place) == taken


@pytest.mark.parametrize("place", ["0.0.0.0:8848", "[::]:8848", "192.168.0.7:8848", "shop.example.com:80"])
def test_what_others_could_hear_is_refused(place: str) -> None:
    with pytest.raises(InvalidInput, match="asks nobody who they are"):
        checked_place(place)


@pytest.mark.parametrize("place", ["8848", ":8848", "localhost", "localhost:0", "localhost:65536", "localhost:x", ""])
def test_what_is_no_place_is_refused(place: str) -> None:
    with pytest.raises(InvalidInput, match="HOST:PORT"):
        checked_place(place)
