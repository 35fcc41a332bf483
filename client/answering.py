"""Answers to open questions, by what is decided: who can respond has a method for each.

Rule: each is `respond` with the words of its kind; what they mean stands in `turnwright.journal.decide.answers`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Any, Unpack

from turnwright.client.access import How
from turnwright.journal.budgets import Budget
from turnwright.journal.commands import Receipt

TEXT_FIELD = "answer"


class Answering(ABC):
    """What answers questions."""

    @abstractmethod
    async def respond(
        self, interaction_id: str, resolution: str, answer: Mapping[str, Any] | None = None, **how: Unpack[How]
    ) -> Receipt:
        """Answer an open question.

        Raises:
            CommandRejected: `unknown_interaction`, `already_answered`, `expired`, `wrong_phase`, or what is wrong with
                the answer.
        """

    async def approve(
        self,
        interaction_id: str,
        *,
        arguments: Mapping[str, Any] | None = None,
        always: bool | str | None = None,
        **how: Unpack[How],
    ) -> Receipt:
        """Let a call run.

        Args:
            interaction_id: the question, of kind `approval`.
            arguments: what it is to run with instead of what was asked; the tool's schema and the deny rules hold.
            always: add a rule that allows such calls from now on: its text, or True for the first one suggested.
            **how: see `How`.
        """
        said = _present(arguments=None if arguments is None else dict(arguments), always=always)
        return await self.respond(interaction_id, "approve", said, **how)

    async def deny(
        self, interaction_id: str, message: str | None = None, *, always: bool | str | None = None, **how: Unpack[How]
    ) -> Receipt:
        """Do not let a call run; the model is told that the person chose so, with `message`.

        `always` adds a rule that denies such calls from now on.
        """
        return await self.respond(interaction_id, "deny", _present(message=message, always=always), **how)

    async def answer(self, interaction_id: str, answer: Mapping[str, Any] | str, **how: Unpack[How]) -> Receipt:
        """Answer a form with an object that fits its schema; a text is what the tool `ask_user` asks for."""
        said = {TEXT_FIELD: answer} if isinstance(answer, str) else answer
        return await self.respond(interaction_id, "answer", said, **how)

    async def decline(self, interaction_id: str, message: str | None = None, **how: Unpack[How]) -> Receipt:
        """Do not answer a form; the model is told so, with `message`."""
        return await self.respond(interaction_id, "decline", _present(message=message), **how)

    async def deliver(
        self, interaction_id: str, output: object = "", *, failed: bool = False, **how: Unpack[How]
    ) -> Receipt:
        """Bring what a call waits for outside: its output (text, or JSON), or that it failed."""
        return await self.respond(interaction_id, "failed" if failed else "succeeded", {"output": output}, **how)

    async def raise_budget(self, interaction_id: str, budget: Budget | None = None, **how: Unpack[How]) -> Receipt:
        """Go on over a budget: what `budget` names replaces that bound, None lifts all of them.

        A session's budget is raised with `session.set_budget`, which answers its questions by itself.
        """
        given = None if budget is None else budget.model_dump(mode="json", exclude_unset=True)
        return await self.respond(interaction_id, "raise", _present(budget=given), **how)

    async def fail_budget(self, interaction_id: str, **how: Unpack[How]) -> Receipt:
        """Do not go on over a budget: the turn fails."""
        return await self.respond(interaction_id, "fail", **how)


def _present(**fields: object) -> dict[str, Any]:
    return {name: value for name, value in fields.items() if value is not None}
