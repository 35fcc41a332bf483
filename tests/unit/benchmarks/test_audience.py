"""What counts as having heard everything."""

import pytest

from benchmarks.audience import check_complete
from benchmarks.audience_process import Subscriber
from benchmarks.servers import Asking


def test_who_heard_every_entry_once_and_in_order_is_complete() -> None:
    check_complete([4, 5, 6], [4, 5, 6])


@pytest.mark.parametrize(
    ("heard", "why"),
    [([4, 6], r"missed \[5\]"), ([4, 5, 5, 6], "heard 1 of them again"), ([5, 4, 6], "not in order")],
)
def test_a_miss_a_repetition_or_another_order_ends_the_measurement(heard: list[int], why: str) -> None:
    with pytest.raises(RuntimeError, match=why):
        check_complete(heard, [4, 5, 6])


def test_entries_that_came_together_are_told_one_by_one_and_signs_of_life_not_at_all() -> None:
    chunk = (
        b'4f\r\nid: 7\nevent: entry\ndata: {"entry":{"position":7,"at_us":1500000}}\n\n: ping - now\n\n'
        b'id: 8\nevent: entry\ndata: {"entry":{"position":8,"at_us":1750000}}\n\n\r\n'
    )
    subscriber = Subscriber(Asking(None, None), [(2.0, b"5\r\nid: 6\nevent: snapshot\ndata: {}\n\n\r\n"), (2.0, chunk)])  # type: ignore[arg-type]
    assert subscriber.told() == [(7, 500_000), (8, 250_000)]
