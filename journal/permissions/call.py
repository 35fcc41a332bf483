"""A call as the rules see it: what the model wrote, what the tool is, and what a worker found out.

Rule: what cannot be read is seen as such (`written` None), never left out: a rule that denies counts it as a match, a
rule that allows does not.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Final

from turnwright.journal.agents import Effect
from turnwright.journal.permissions.facts import CallFacts

MISSING: Any = object()
# What is more or longer is not read: no system opens it, and each is compared with every rule while the thread waits.
PATHS_MAX: Final = 100
PATH_CHARACTERS_MAX: Final = 4_096
ALL_PATHS_CHARACTERS_MAX: Final = 20_000


@dataclass(frozen=True, slots=True)
class PathSeen:
    """One path of a call: as it was written (None: it is no text), and where it really leads, if that is known."""

    written: str | None
    real: str | None = None


@dataclass(frozen=True)  # without slots: its paths are read once, for all rules
class CallSeen:
    """A call to be judged. `paths` and `command` name arguments; `checked`: the tool has a check of its own."""

    tool: str
    arguments: Mapping[str, Any]
    effect: Effect = "once"
    paths: tuple[str, ...] = ()
    command: str | None = None
    facts: CallFacts = field(default_factory=CallFacts)
    checked: bool = False

    @property
    def has_check(self) -> bool:
        """Whether the tool's own check has a say."""
        return self.checked or self.facts.check is not None

    @cached_property
    def located(self) -> tuple[PathSeen, ...]:
        """Every path of the call."""
        return tuple(seen for name in self.paths for seen in self._located(name))

    @cached_property
    def unlocated(self) -> bool:
        """Whether nobody knows where one of its paths really leads."""
        return any(seen.real is None for seen in self.located) or any(map(self._may_default, self.paths))

    @property
    def command_lines(self) -> tuple[str | None, ...]:
        """The command line as written and as the tool gets it; None stands for one that is no text."""
        if self.command is None:
            return ()
        given = [v for v in self.values((self.command,)) if v is not MISSING and v is not None]
        return tuple(dict.fromkeys(v if isinstance(v, str) else None for v in given))

    def values(self, names: tuple[str, ...]) -> tuple[Any, ...]:
        """What stands under a nested name, in the arguments as written and as the tool gets them.

        A list on the way is gone into item by item; `MISSING` stands for an item that has no such name.
        """
        received = self.facts.received
        readings = (self.arguments,) if received is None else ({**received, **self.arguments}, received)
        return tuple(value for reading in readings for value in _under(reading, names))

    def _may_default(self, name: str) -> bool:
        """Whether the tool may take a path here that the model left out and nobody told."""
        left_out = self.arguments.get(name) is None and not self.facts.resolved.get(name)
        received = self.facts.received
        return left_out and (received is None or bool(paths_in(received.get(name))))

    def _located(self, name: str) -> Iterator[PathSeen]:
        real = self.facts.resolved.get(name, ())
        written = paths_in(self.arguments.get(name))
        if not written:
            # Left out by the model: what the tool takes instead.
            return (PathSeen(path, path) for path in real)
        if len(real) != len(written):
            return (PathSeen(path) for path in written)
        pairs = zip(written, real, strict=True)
        return (PathSeen(path, None if path is None else place) for path, place in pairs)


def paths_in(value: Any) -> tuple[str | None, ...]:  # noqa: ANN401 - any JSON value
    """The paths in an argument; None stands for what is none that anybody reads."""
    if value is None:
        return ()
    items = value if isinstance(value, list | tuple) else (value,)
    texts = tuple(item if _is_path(item) else None for item in items[:PATHS_MAX])
    too_many = len(items) > PATHS_MAX or sum(len(text or "") for text in texts) > ALL_PATHS_CHARACTERS_MAX
    return (None,) if too_many else texts


def _is_path(item: object) -> bool:
    return isinstance(item, str) and len(item) <= PATH_CHARACTERS_MAX


def _under(value: Any, names: tuple[str, ...]) -> Iterator[Any]:  # noqa: ANN401 - any JSON value
    if isinstance(value, list | tuple) and names:
        for item in value:
            yield from _under(item, names)
    elif not names:
        yield value
    elif isinstance(value, Mapping) and names[0] in value:
        yield from _under(value[names[0]], names[1:])
    else:
        yield MISSING
