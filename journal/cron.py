"""Cron expressions, looked at before anything is committed: Temporal says only later, and to nobody, what it refuses.

Rule: what passes here Temporal takes. Five fields (minute, hour, day of the month, month, day of the week), or one of
the names in `NAMED`. A day must fit both of its fields, unlike with Unix cron, where one of them is enough.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from turnwright.journal.errors import InvalidInput

NAMED: Mapping[str, str] = {
    "@yearly": "0 0 1 1 *",
    "@annually": "0 0 1 1 *",
    "@monthly": "0 0 1 * *",
    "@weekly": "0 0 * * 0",
    "@daily": "0 0 * * *",
    "@midnight": "0 0 * * *",
    "@hourly": "0 * * * *",
}
_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_DAYS = ("sun", "mon", "tue", "wed", "thu", "fri", "sat")
_LONGEST_DAYS = (31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31)
_ITEM = re.compile(r"(?:(\*)|([a-z]+|[0-9]+)(?:-([a-z]+|[0-9]+))?)(?:/([0-9]+))?", re.IGNORECASE)
NUMBER_DIGITS_MAX = 4
DAYS_OF_THE_WEEK = 7


@dataclass(frozen=True, slots=True)
class _Field:
    name: str
    least: int
    most: int
    words: tuple[str, ...] = ()
    first_word: int = 0

    def number(self, text: str) -> int:
        if text.lower() in self.words:
            return self.words.index(text.lower()) + self.first_word
        if not text.isdecimal() or len(text) > NUMBER_DIGITS_MAX or not self.least <= int(text) <= self.most:
            raise InvalidInput(f"its {self.name} is from {self.least} to {self.most}, not {text}")
        return int(text)

    def values(self, text: str) -> frozenset[int]:
        found: set[int] = set()
        for item in text.split(","):
            match = _ITEM.fullmatch(item)
            if match is None:
                raise InvalidInput(f"its {self.name} is no list of ranges such as 1-5 or */10, but {text!r:.40}")
            every, first, last, step = match.groups()
            begin = self.least if every else self.number(first)
            end = self.most if every or (last is None and step) else self.number(last or first)
            by = 1 if step is None else int(step[: NUMBER_DIGITS_MAX + 1])
            if end < begin:
                raise InvalidInput(f"its {self.name} goes from {begin} to {end}; write it as two ranges")
            if not 0 < by <= self.most:
                raise InvalidInput(f"its {self.name} has the step {step}, which is from 1 to {self.most}")
            found.update(range(begin, end + 1, by))
        return frozenset(found)


_FIELDS = (
    _Field("minute", 0, 59),
    _Field("hour", 0, 23),
    _Field("day of the month", 1, 31),
    _Field("month", 1, 12, _MONTHS, 1),
    _Field("day of the week", 0, 7, _DAYS),
)


def checked_cron(text: str) -> str:
    """The expression itself, its spaces made single.

    Raises:
        InvalidInput: it is none, or one that never comes; says which field is wrong and why.
    """
    fields = text.split()
    if len(fields) == 1 and fields[0].lower() in NAMED:
        return fields[0].lower()
    if len(fields) != len(_FIELDS):
        raise InvalidInput(
            f"a cron expression has five fields (minute hour day month weekday) such as '0 9 * * mon-fri', or is one "
            f"of {', '.join(sorted(NAMED))}; not {text!r:.100}"
        )
    try:
        _, _, days, months, _ = (field.values(given) for field, given in zip(_FIELDS, fields, strict=True))
    except InvalidInput as error:
        raise InvalidInput(f"cron expression {text!r:.100}: {error}") from None
    if all(min(days) > _LONGEST_DAYS[month - 1] for month in months):
        raise InvalidInput(f"cron expression {text!r:.100}: none of its months has a day {min(days)}")
    return " ".join(fields)


def cron_values(text: str) -> tuple[frozenset[int], ...]:
    """What an expression that was checked allows: minutes, hours, days, months, days of the week (0 to 6)."""
    fields = NAMED.get(text, text).split()
    *others, days = (field.values(given) for field, given in zip(_FIELDS, fields, strict=True))
    return *others, frozenset(day % DAYS_OF_THE_WEEK for day in days)
