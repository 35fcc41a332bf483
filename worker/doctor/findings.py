"""What was looked at, what was found, and what to do about it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

Verdict: TypeAlias = Literal["ok", "warning", "failed"]


@dataclass(frozen=True, slots=True)
class Finding:
    """`todo` is empty where nothing is to be done."""

    about: str
    verdict: Verdict
    said: str
    todo: str = ""


def fine(about: str, said: str) -> Finding:
    """Nothing is to be done."""
    return Finding(about, "ok", said)


def doubtful(about: str, said: str, todo: str) -> Finding:
    """It works, and may not for long, or not for everything."""
    return Finding(about, "warning", said, todo)


def broken(about: str, said: str, todo: str) -> Finding:
    """Turns are not carried out, or may be lost."""
    return Finding(about, "failed", said, todo)
