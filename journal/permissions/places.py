"""The paths of a call, seen from the root and from the working directories.

Rule: they are read once and compared with every rule, for the thread waits meanwhile. A rule that allows sees only
where a path really leads; one that denies or asks sees also what is written.
"""

from __future__ import annotations

import posixpath
from dataclasses import dataclass
from functools import cached_property
from typing import TypeAlias

from turnwright.journal.permissions.call import CallSeen, PathSeen
from turnwright.journal.permissions.globs import ANY_FOLDERS, Folders, any_of_each, folders, folders_match
from turnwright.journal.permissions.rules import Pattern

# One path in each reading of it.
Readings: TypeAlias = tuple[Folders, ...]


@dataclass(frozen=True)  # without slots: each view is worked out when a rule first asks for it
class Places:
    """The paths; `directories` are the working directories as they were set, `real` where these lead."""

    located: tuple[PathSeen, ...]
    directories: tuple[str, ...]
    real: tuple[str, ...]

    @classmethod
    def of(cls, call: CallSeen, directories: tuple[str, ...]) -> Places:
        """Those of a call."""
        known = call.facts.directories
        return cls(call.located, directories, tuple(known[name] for name in directories if name in known))

    @property
    def all_inside(self) -> bool:
        """Whether there are paths and all of them really lie in the working directories."""
        return bool(self.located) and all(self._inner)

    def all_lie(self, pattern: Pattern) -> bool:
        """Whether there are paths and all of them really lie where the glob says, from a working directory on."""
        paths = self._absolute if pattern.absolute else self._inner
        return bool(paths) and all(any(folders_match(pattern.parts, path) for path in ways) for ways in paths)

    def any_touches(self, pattern: Pattern) -> bool:
        """Whether one may be what the glob describes: as written or as it really is, and a relative glob anywhere."""
        if pattern.absolute:
            paths, glob = self._touched, pattern.parts
        else:
            paths, glob = self._touched_anywhere, (ANY_FOLDERS, *pattern.parts)
        # One that cannot be read, or made absolute, may be any.
        if not all(paths):
            return True
        if not any_of_each(glob, self._words, broad=True):
            return False
        return any(folders_match(glob, path, broad=True) for ways in paths for path in ways)

    @cached_property
    def _absolute(self) -> tuple[Readings, ...]:
        return tuple(_from(seen, ("/",)) for seen in self.located)

    @cached_property
    def _inner(self) -> tuple[Readings, ...]:
        return tuple(_from(seen, self.real) for seen in self.located)

    @cached_property
    def _touched(self) -> tuple[Readings, ...]:
        return tuple(_read(self._written(seen), seen.real) if _readable(seen) else () for seen in self.located)

    @cached_property
    def _touched_anywhere(self) -> tuple[Readings, ...]:
        return tuple(
            _read(self._written(seen) or posixpath.normpath(seen.written or ""), seen.real) if _readable(seen) else ()
            for seen in self.located
        )

    @cached_property
    def _words(self) -> Folders:
        """Each folder and file there is in any of them."""
        return tuple({part for ways in self._touched_anywhere for path in ways for part in path})

    def _written(self, seen: PathSeen) -> str | None:
        """The path made absolute by its text alone, if that can be done."""
        path = seen.written or ""
        if path.startswith("/"):
            return _normal(path)
        if path.startswith("~") or not self.directories:
            return None
        return _normal(posixpath.join(self.directories[0], path))


def _readable(seen: PathSeen) -> bool:
    return seen.written is not None and "\0" not in seen.written


def _read(*places: str | None) -> Readings:
    return tuple(folders(place) for place in dict.fromkeys(places) if place is not None)


def _from(seen: PathSeen, bases: tuple[str, ...]) -> Readings:
    """The real path, from each base that it lies below."""
    real = seen.real
    if real is None or not real.startswith("/") or posixpath.normpath(real) != real:
        return ()
    return tuple(folders(posixpath.relpath(real, base)) for base in bases if _below(real, base))


def _below(path: str, base: str) -> bool:
    return base.startswith("/") and posixpath.commonpath((path, base)) == posixpath.normpath(base)


def _normal(path: str) -> str:
    normal = posixpath.normpath(path)
    return normal[1:] if normal.startswith("//") else normal
