"""What people are shown: text that cannot command a terminal, local times, ids as short as they may be."""

from datetime import datetime, timedelta

import pytest

from turnwright.client.cli.screen import harmless, local
from turnwright.client.cli.turn_filters import phases_wanted
from turnwright.client.cli.turn_rows import shortened
from turnwright.journal.errors import InvalidInput
from turnwright.journal.shown import PHASES

S = 1_000_000


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("plain, ünï\U0001f600 and\ttabs\n", "plain, ünï\U0001f600 and\ttabs\n"),
        ("\x1b[31mred", "\ufffd[31mred"),
        ("bell\x07 back\x08 \x9b31m \x7f", "bell\ufffd back\ufffd \ufffd31m \ufffd"),
        ("\u202etxt.exe", "\ufffdtxt.exe"),
        ("\U0001f469\u200d\U0001f4bb", "\U0001f469\u200d\U0001f4bb"),
        ("cut \ud83d", "cut \ufffd"),
    ],
)
def test_what_a_terminal_would_obey_is_shown_as_a_mark(text: str, shown: str) -> None:
    assert harmless(text) == shown


def test_a_time_names_its_zone_and_has_its_date_unless_it_is_of_today() -> None:
    now = datetime(2026, 3, 29, 12, 0, 0).astimezone()
    at_us = int(now.timestamp()) * S
    assert local(at_us, now) == f"12:00:00 {now.tzname()}"
    assert local(at_us, now + timedelta(days=1)) == f"2026-03-29 12:00:00 {now.tzname()}"
    assert local(None) == ""


def test_ids_are_cut_only_as_far_as_they_stay_different() -> None:
    assert shortened([]) == {}
    assert shortened(["t-0123456789abcdef"]) == {"t-0123456789abcdef": "t-01234567"}
    alike = ["t-0123456789abc", "t-0123456789abd", "t-f"]
    assert shortened(alike) == {name: name for name in alike}
    assert len(set(shortened(["t-012345670" + c * 5 for c in "0123456789abcdef"]).values())) == 16


def test_phases_are_those_that_exist() -> None:
    assert phases_wanted(()) == PHASES
    assert phases_wanted(("failed", "queued")) == ("queued", "failed")
    with pytest.raises(InvalidInput, match="sleeping"):
        phases_wanted(("queued", "sleeping"))
