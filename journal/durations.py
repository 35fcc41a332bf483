"""Durations, counted in microseconds; and for people.

Rule: at most two units, the smaller one only where it still tells something.
"""

from __future__ import annotations

SECOND_US = 1_000_000
_UNITS = ((86_400, "d"), (3_600, "h"), (60, "min"), (1, "s"))
SHORT_S = 10


def human(duration_us: int) -> str:
    """Such as `0.4 s`, `12 s`, `3 min 5 s`, `2 h`, `4 d 7 h`; a negative one is `0 s`."""
    if duration_us <= 0:
        return "0 s"
    seconds = duration_us / SECOND_US
    if seconds < SHORT_S:
        return f"{max(seconds, 0.1):.1f} s"
    left, parts = round(seconds), []
    for size, unit in _UNITS:
        count, left = divmod(left, size)
        if count:
            parts.append(f"{count} {unit}")
        elif parts:
            break
    return " ".join(parts[:2])
