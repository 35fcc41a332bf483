"""On which terms the tools of a source become an agent's: under which names, which of them, with which effect.

Rule: nothing here comes from the source. A name the model cannot call is written in the characters it can; what does
not fit the bounds is left out, and the log says so.
"""

from __future__ import annotations

import fnmatch
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Final, Self, TypedDict, get_args

import structlog

from turnwright.journal.agents import Effect, ToolSpec
from turnwright.journal.canonical import encode
from turnwright.journal.errors import InvalidInput

TIMEOUT_S: Final = 600.0
NAME_CHARACTERS_MAX: Final = 64
DESCRIPTION_CHARACTERS_MAX: Final = 8_000
PREFIX_CHARACTERS_MAX: Final = 40
SPEC_BYTES_MAX: Final = 64 * 1024
TOOLS_MAX: Final = 200
_NAME = re.compile(r"[a-zA-Z0-9_-]{1,40}")
_UNCALLABLE = re.compile(r"[^a-zA-Z0-9_-]")
_DIGEST_CHARACTERS = 8

log = structlog.get_logger(__name__)


class TermOptions(TypedDict, total=False):
    """What an author may say of the tools of a source.

    `prefix` comes before their names (by default the source's name and `_`); `include` and `exclude` are names, or
    patterns with `*`, as they are called there; `effect` is that of all its tools, `effects` that of single ones;
    `group` makes them a group that is activated as one; `timeout_s` is how long a call may take.
    """

    prefix: str
    include: Sequence[str]
    exclude: Sequence[str]
    effect: Effect
    effects: Mapping[str, Effect]
    group: str
    timeout_s: float


@dataclass(frozen=True, slots=True)
class Terms:
    """The terms of one source."""

    name: str
    prefix: str
    include: tuple[str, ...] = ("*",)
    exclude: tuple[str, ...] = ()
    effect: Effect | None = None
    effects: Mapping[str, Effect] = field(default_factory=dict)
    group: str | None = None
    timeout_s: float = TIMEOUT_S

    @classmethod
    def of(cls, name: str, options: TermOptions) -> Self:
        """The terms as they were said.

        Raises:
            InvalidInput: something is not what it must be.
        """
        if not isinstance(name, str) or not _NAME.fullmatch(name):
            raise InvalidInput(f"source {name!r}: its name has 1 to 40 letters, digits, `_` and `-`")
        terms = cls(
            name,
            prefix=options.get("prefix", f"{name}_"),
            include=_patterns(name, options.get("include", ("*",))),
            exclude=_patterns(name, options.get("exclude", ())),
            effect=options.get("effect"),
            effects=dict(options.get("effects", {})),
            group=options.get("group"),
            timeout_s=options.get("timeout_s", TIMEOUT_S),
        )
        unknown = sorted(options.keys() - TermOptions.__annotations__.keys())
        if unknown:
            raise InvalidInput(f"source {name}: it has no {', '.join(unknown)}=")
        _check(terms)
        return terms

    @property
    def names(self) -> str:
        """What the names of its tools begin with, with a `*` behind."""
        return f"{self.prefix}*"

    def admits(self, name_there: str) -> bool:
        """Whether the tool of that name is to be the agent's."""
        return _matches(name_there, self.include) and not _matches(name_there, self.exclude)

    def named(self, name_there: str) -> str:
        """What the model calls it by; one that begins like that already is not prefixed once more."""
        whole = name_there if name_there.startswith(self.prefix) else self.prefix + name_there
        name = _UNCALLABLE.sub("_", whole)
        if len(name) <= NAME_CHARACTERS_MAX:
            return name
        end = sha256(whole.encode()).hexdigest()[:_DIGEST_CHARACTERS]
        return f"{name[: NAME_CHARACTERS_MAX - _DIGEST_CHARACTERS - 1]}_{end}"

    def effect_of(self, name_there: str, otherwise: Effect = "once") -> Effect:
        """What repeating a call means: as the author says, else what follows from elsewhere."""
        return self.effects.get(name_there) or self.effect or otherwise

    def fitting(self, specs: Sequence[ToolSpec]) -> tuple[ToolSpec, ...]:
        """Those that may be offered: each name once, and all within the bounds."""
        kept: dict[str, ToolSpec] = {}
        for spec in specs:
            why_not = _unfit(spec, kept)
            if why_not is None:
                kept[spec.name] = spec
            else:
                log.warning("tool_left_out", source=self.name, tool=spec.name, reason=why_not)
        return tuple(kept.values())


def _patterns(source: str, given: Sequence[str]) -> tuple[str, ...]:
    if isinstance(given, str) or not all(isinstance(pattern, str) for pattern in given):
        raise InvalidInput(f"source {source}: include= and exclude= are lists of names, such as ['read_*']")
    return tuple(given)


def _matches(name: str, patterns: Sequence[str]) -> bool:
    return any(fnmatch.fnmatchcase(name, pattern) for pattern in patterns)


def _unfit(spec: ToolSpec, kept: Mapping[str, ToolSpec]) -> str | None:
    if spec.name in kept:
        return "another tool there would have the same name"
    if len(kept) >= TOOLS_MAX:
        return f"there are more than {TOOLS_MAX}"
    size = len(encode(spec.model_dump(mode="json")))
    return None if size <= SPEC_BYTES_MAX else f"its schemas have {size} bytes, more than {SPEC_BYTES_MAX}"


def _check(terms: Terms) -> None:
    where = f"source {terms.name}"
    if (
        not isinstance(terms.prefix, str)
        or _UNCALLABLE.search(terms.prefix)
        or len(terms.prefix) > PREFIX_CHARACTERS_MAX
    ):
        raise InvalidInput(f"{where}: prefix has up to 40 letters, digits, `_` and `-`, got {terms.prefix!r}")
    effects = [*terms.effects.values(), *((terms.effect,) if terms.effect is not None else ())]
    wrong = [effect for effect in effects if effect not in get_args(Effect)]
    if wrong:
        raise InvalidInput(f"{where}: an effect is 'read', 'idempotent' or 'once', not {wrong[0]!r}")
    if not terms.timeout_s > 0:
        raise InvalidInput(f"{where}: timeout_s must be above 0, got {terms.timeout_s}")
