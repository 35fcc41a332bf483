"""What an agent may do unasked, as its author writes it.

Rule: rules are texts here, and each is read when the agent is made. A thread begins with them; whoever is in charge of
the thread changes them afterwards, for that thread.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final, get_args

from turnwright.journal.errors import InvalidInput
from turnwright.journal.permissions.change import checked_permissions
from turnwright.journal.permissions.rules import parse_rule
from turnwright.journal.state_parts import Mode, PermissionState, Rule

RULE_SOURCE: Final = "agent"


@dataclass(frozen=True, slots=True)
class Permissions:
    """What a thread of the agent begins with.

    A rule is a tool's name, with an optional pattern: `refund`, `refund(amount=1*)`, `shell(prefix:git status)`,
    `edit(path:src/**)`. `working_directories` are absolute paths; relative paths are relative to the first.

    Raises:
        InvalidInput: a mode, rule or directory is none; says what to write.
    """

    mode: Mode = "default"
    allow: Sequence[str] = ()
    ask: Sequence[str] = ()
    deny: Sequence[str] = ()
    working_directories: Sequence[str] = ()
    _state: PermissionState = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        """Check everything, once."""
        if self.mode not in get_args(Mode):
            raise InvalidInput(f"permissions: mode is one of {', '.join(get_args(Mode))}, not {self.mode!r}")
        state = PermissionState(
            mode=self.mode,
            allow=_rules("allow", self.allow),
            ask=_rules("ask", self.ask),
            deny=_rules("deny", self.deny),
            working_directories=_texts("working_directories", self.working_directories),
        )
        object.__setattr__(self, "_state", checked_permissions(state))

    @property
    def state(self) -> PermissionState:
        """The permissions as the thread keeps them."""
        return self._state


def _rules(name: str, texts: Sequence[str]) -> tuple[Rule, ...]:
    return tuple(parse_rule(text, RULE_SOURCE) for text in _texts(name, texts))


def _texts(name: str, texts: Sequence[str]) -> tuple[str, ...]:
    # A text is a sequence of texts as well, and ("refund") is one without its comma.
    if isinstance(texts, str) or not all(isinstance(text, str) for text in texts):
        raise InvalidInput(f"permissions: {name} is a list of texts, such as ['refund'], got {texts!r:.200}")
    return tuple(texts)
