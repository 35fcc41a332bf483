"""Events as bytes: what is there at once is sent at once."""

from typing import cast

import pytest

from turnwright.client.gateway import framing
from turnwright.client.gateway.feeds import Feed
from turnwright.client.gateway.framing import Piece, framed, joined
from turnwright.journal.ids import SessionKey
from turnwright.journal.store import Journal


def test_an_event_is_four_lines() -> None:
    assert framed("entry", 7, b'{"a":1}') == b'id: 7\nevent: entry\ndata: {"a":1}\n\n'


def test_events_that_are_there_at_once_are_one_piece_with_the_place_of_the_last() -> None:
    assert list(joined([Piece(1, b"a"), Piece(2, b"b"), Piece(5, b"c")])) == [Piece(5, b"abc")]
    assert not list(joined([]))


def test_no_piece_is_larger_than_is_held_for_one_who_waits_but_a_large_event_goes_alone(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(framing, "PIECE_BYTES_MAX", 4)
    pieces = [Piece(1, b"aa"), Piece(2, b"bb"), Piece(3, b"c"), Piece(4, b"dddddd"), Piece(5, b"e")]
    assert list(joined(pieces)) == [Piece(2, b"aabb"), Piece(3, b"c"), Piece(4, b"dddddd"), Piece(5, b"e")]


async def test_who_keep_up_are_sent_the_same_bytes_and_who_is_behind_gets_pieces_when_it_takes_them(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(framing, "PIECE_BYTES_MAX", 4)
    feed = Feed(cast("Journal", None), SessionKey("t", None, "s"), 0)
    for place, events in ((1, b"aa"), (2, b"bb"), (3, b"c"), (4, b"d")):
        feed._keep(Piece(place, events))
    (one,), (other,) = await feed.after(2), await feed.after(2)
    assert one is other
    assert one == (4, b"cd")
    behind = await feed.after(0)
    feed._keep(Piece(5, b"e"))
    assert list(behind) == [(2, b"aabb"), (4, b"cd")]
    assert list(await feed.after(2)) == [(5, b"cde")]
    assert list(await feed.after(9)) == []
