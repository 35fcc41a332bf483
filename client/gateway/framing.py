"""Server-sent events as bytes.

Rule: JSON as we write it has no line break, so an event is four lines. What is there at once is sent at once, for a
send costs as much as many events; but a reader that waits holds on to the last piece it got, so none is large.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

PIECE_BYTES_MAX = 16 * 1024


class Piece(NamedTuple):
    """One event or several, with the place in the journal of the last."""

    place: int
    events: bytes


def framed(name: str, place: int, data: bytes) -> bytes:
    """An event with the place that a reader comes back with."""
    return b"id: %d\nevent: %s\ndata: %s\n\n" % (place, name.encode(), data)


def joined(pieces: Iterable[Piece]) -> Iterator[Piece]:
    """The same events in as few pieces as are not too large, each made when it is wanted."""
    waiting: list[bytes] = []
    size = place = 0
    for piece in pieces:
        if waiting and size + len(piece.events) > PIECE_BYTES_MAX:
            yield Piece(place, b"".join(waiting))
            waiting, size = [], 0
        waiting.append(piece.events)
        size, place = size + len(piece.events), piece.place
    if waiting:
        yield Piece(place, b"".join(waiting))
