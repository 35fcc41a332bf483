"""What is said when the module of the agents, which is the user's code, raises: one line, and the user's own frames.

Rule: how Python and Turnwright came to load it, and what a library does inside, tells its author nothing.
"""

from __future__ import annotations

import sysconfig
import traceback
from pathlib import Path

from turnwright.journal.errors import InvalidInput

_OURS = str(Path(__file__).parents[1])
_LIBRARIES = tuple({sysconfig.get_path(name) for name in ("stdlib", "platstdlib", "purelib", "platlib")})


class AgentsBroken(InvalidInput):
    """The user's code raised while the agents were loaded; a note of the error holds the frames of that code."""


def broken(target: str, error: BaseException) -> AgentsBroken:
    """The error to raise instead."""
    frames = _own(target.partition(":")[0].partition(".")[0], traceback.extract_tb(error.__traceback__))
    said = " ".join(str(error).split())
    what = said if isinstance(error, InvalidInput) else f"{type(error).__name__}: {said}".removesuffix(": ")
    place = (
        f" ({frames[-1].filename}, line {frames[-1].lineno})" if frames and not isinstance(error, SyntaxError) else ""
    )
    made = AgentsBroken(f"{target!r} cannot be loaded: {what}{place}")
    made.add_note("".join((*traceback.format_list(frames), *traceback.format_exception_only(error))).rstrip())
    return made


def _own(package: str, frames: traceback.StackSummary) -> list[traceback.FrameSummary]:
    """The frames of the user's code; a package of theirs may be installed beside the libraries."""
    return [frame for frame in frames if _is_of(package, frame.filename) or not _is_foreign(frame.filename)]


def _is_of(package: str, file: str) -> bool:
    return package in (Path(file).stem, *Path(file).parent.parts) and not file.startswith(_OURS)


def _is_foreign(file: str) -> bool:
    return file.startswith(("<", _OURS, *_LIBRARIES))
