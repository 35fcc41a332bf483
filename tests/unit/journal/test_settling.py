"""What an import writes at once has a bound, and nothing of it is left out or written twice."""

from __future__ import annotations

from functools import partial

from hypothesis import given
from hypothesis import strategies as st

from turnwright.journal.codec import GENESIS
from turnwright.journal.ids import ThreadKey
from turnwright.journal.transact import settling
from turnwright.journal.transact.importing import Begun, Declared
from turnwright.journal.transact.indexing import ENTRIES_INDEXED_MAX
from turnwright.journal.transact.settling import ROWS_WRITTEN_MAX, in_pieces, transactions
from turnwright.journal.transact.walking import Walk
from turnwright.journal.turn_status import TurnStatus

KEY = ThreadKey("t", None, "agent", "s")
TURN = TurnStatus(turn_id="t", request_id="r", phase="completed")
counts = st.integers(0, 3 * ROWS_WRITTEN_MAX)


@given(st.lists(st.integers()), st.integers(1, 9))
def test_pieces_are_all_of_it_in_order_and_none_is_larger_than_it_may_be(items: list[int], size: int) -> None:
    pieces = list(in_pieces(items, size))
    assert [item for piece in pieces for item in piece] == items
    assert all(0 < len(piece) <= size for piece in pieces)


@given(counts, st.integers(0, 1_000))
def test_a_transaction_writes_no_more_than_it_may_and_all_turns_are_in_one(turns: int, entries: int) -> None:
    walk = Walk(KEY, seq=entries)
    walk.turns = {f"t{n}": TURN.model_copy(update={"turn_id": f"t{n}"}) for n in range(turns)}
    of = settling.settling(Begun(1, "new"), "digest", Declared(KEY, entries, GENESIS), walk, 1)
    written: list[str] = []
    for transaction in transactions(of):
        assert isinstance(transaction, partial)
        wrote = [turn.turn_id for piece in transaction.args[1] for some in piece.args[1:] for turn in some]
        indexes = any(piece.func.__name__ == "_index" for piece in transaction.args[1])
        assert len(wrote) + (min(entries, ENTRIES_INDEXED_MAX) if indexes else 0) <= ROWS_WRITTEN_MAX
        written += wrote
    assert written == list(walk.turns)
