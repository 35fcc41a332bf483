"""Durations as people read them."""

import pytest

from turnwright.journal.durations import human

S = 1_000_000


@pytest.mark.parametrize(
    ("duration_us", "text"),
    [
        (-5 * S, "0 s"),
        (0, "0 s"),
        (1, "0.1 s"),
        (400_000, "0.4 s"),
        (9_940_000, "9.9 s"),
        (12 * S, "12 s"),
        (60 * S, "1 min"),
        (185 * S, "3 min 5 s"),
        (3_600 * S, "1 h"),
        (3_605 * S, "1 h"),
        (7_500 * S, "2 h 5 min"),
        (86_400 * S, "1 d"),
        (4 * 86_400 * S + 7 * 3_600 * S + 59 * S, "4 d 7 h"),
    ],
)
def test_a_duration_has_at_most_two_units(duration_us: int, text: str) -> None:
    assert human(duration_us) == text
