"""Questions to people and to the outside, with what is asked: what an inbox shows and an answer needs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, cast

from turnwright.journal.budgets import Scope
from turnwright.journal.decide.answers import ANSWERS
from turnwright.journal.entries.operation import InteractionKind
from turnwright.journal.ids import ThreadKey
from turnwright.journal.interactions import QuestionState
from turnwright.journal.lineage import Parent
from turnwright.journal.transact import inbox
from turnwright.journal.ways import ways_to_answer


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """One question, open or settled.

    `asked` is what the journal says is asked; it is empty if that was erased, or in a list if it is `large`
    (`client.interaction` reads it). The properties read it. Times are microseconds since 1970 UTC by the store's
    clock. `resolution` and `principal` say how and by whom it was settled. `called_with`, `idempotency_key` and
    `started_us` are what to look for where nobody knows what became of a call; they are None in a list, if they were
    erased, and for other questions. `parent`: the call of another turn that opened the one that asks.
    """

    interaction_id: str
    kind: InteractionKind
    key: ThreadKey
    turn_id: str
    state: QuestionState
    call_id: str | None
    tool: str | None
    asked_us: int
    deadline_us: int | None = None
    on_expiry: str | None = None
    resolution: str | None = None
    principal: str = ""
    settled_us: int | None = None
    asked: Mapping[str, Any] = field(default_factory=dict)
    large: bool = False
    called_with: Mapping[str, Any] | None = None
    idempotency_key: str | None = None
    started_us: int | None = None
    parent: Parent | None = None

    @property
    def answers(self) -> tuple[str, ...]:
        """The resolutions that answer it; none for an unknown outcome, which is reconciled."""
        return tuple(ANSWERS[self.kind])

    @property
    def commands(self) -> tuple[str, ...]:
        """The commands of the terminal that answer it, the usual one first."""
        return ways_to_answer(
            self.kind,
            self.interaction_id,
            key=self.key,
            turn_id=self.turn_id,
            call_id=self.call_id,
            scope=self.scope,
            over=self.over,
        )

    @property
    def arguments(self) -> dict[str, Any]:
        """What the tool is to be called with, where that is the question; or `called_with`."""
        return self._object("arguments") or dict(self.called_with or {})

    @property
    def message(self) -> str | None:
        """What is said to the person: what the tool wants to know or its hook found, or why its call is asked about."""
        return self._text("prompt") or self._text("message")

    @property
    def why(self) -> str | None:
        """What made a call a question, such as `mode:default` or a rule."""
        return self._text("why")

    @property
    def suggestions(self) -> tuple[str, ...]:
        """Rules that "always" could mean, the narrowest first."""
        return tuple(str(text) for text in self.asked.get("suggestions") or ())

    @property
    def schema(self) -> dict[str, Any] | None:
        """What an answer must look like, as a JSON schema."""
        return self._object("schema")

    @property
    def scope(self) -> Scope | None:
        """Whose budget it is about."""
        return cast("Scope | None", self._text("scope"))

    @property
    def over(self) -> tuple[str, ...]:
        """What of that budget is used up."""
        return tuple(str(name) for name in self.asked.get("over") or ())

    def _text(self, name: str) -> str | None:
        found = self.asked.get(name)
        return found if isinstance(found, str) and found else None

    def _object(self, name: str) -> dict[str, Any] | None:
        found = self.asked.get(name)
        return dict(found) if isinstance(found, Mapping) else None


def question_of(found: inbox.Question) -> Question:
    """A question of the journal's inbox as a client gives it."""
    row, asked, started = found.row, found.asked, found.started
    return Question(
        interaction_id=row.interaction_id,
        kind=cast("InteractionKind", row.kind),
        key=found.key,
        turn_id=found.turn_id,
        state=row.state,
        call_id=row.call_id,
        tool=row.tool,
        asked_us=row.asked_us,
        deadline_us=row.deadline_us,
        on_expiry=None if asked is None else asked.on_expiry,
        resolution=row.resolution,
        principal=row.principal,
        settled_us=row.settled_us,
        asked={} if asked is None else asked.asked,
        large=found.large,
        called_with=None if started is None else started.arguments,
        idempotency_key=None if started is None else started.key,
        started_us=None if started is None else started.at_us,
        parent=None if asked is None else asked.parent,
    )
