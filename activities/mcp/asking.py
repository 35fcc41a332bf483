"""What a server wants to know in the middle of a call, as questions to people.

Rule: a question is known by its words, its schema and how often the call has asked it, so a call that is made again is
answered from the journal what it was answered before. Only forms are asked: for what a person would do at some URL, and
for a model of ours, nobody is there, and the server is told so.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any, Final

from mcp_types import (
    CreateMessageRequest,
    ElicitRequest,
    ElicitRequestFormParams,
    ElicitRequestParams,
    ElicitResult,
    InputRequiredResult,
    InputResponses,
    ListRootsRequest,
)

from turnwright.activities.tool_context import Answer
from turnwright.activities.tool_errors import ToolError
from turnwright.activities.tool_results import PROMPT_CHARACTERS_MAX, Question
from turnwright.journal.canonical import digest_of, repair

ROUNDS_MAX: Final = 20
RESULT: Final = "result"
COUNTED: Final = "counted"
DECLINED = ElicitResult(action="decline")
CANCELLED = ElicitResult(action="cancel")


class Asking:
    """The questions of one call, as far as they are answered."""

    def __init__(self, answers: Mapping[str, Answer]) -> None:
        self._answers = answers
        self._counted: Counter[str] = Counter()

    @property
    def resumed(self) -> InputRequiredResult | None:
        """What the server wanted to know when it was asked last, and what it is to be given back with the answer."""
        kept = [answer.kept for answer in self._answers.values() if RESULT in answer.kept]
        if not kept:
            return None
        self._counted = Counter(kept[-1][COUNTED])
        return InputRequiredResult.model_validate(kept[-1][RESULT], by_name=False)

    def begin_anew(self) -> None:
        """Count from the beginning: the server has forgotten that it asked."""
        self._counted.clear()

    def answer(self, params: ElicitRequestParams) -> ElicitResult | Question:
        """The answer to one question, or the question as it is to be asked."""
        if not isinstance(params, ElicitRequestFormParams):
            return DECLINED
        name = self._name(params)
        known = self._answers.get(name)
        if known is not None:
            return ElicitResult(action="accept", content=dict(known.values)) if known.given else DECLINED
        schema: dict[str, Any] = repair(dict(params.requested_schema))
        return Question(repair(params.message)[:PROMPT_CHARACTERS_MAX], schema, again=name)

    def answers_to(self, wanted: InputRequiredResult) -> InputResponses | Question:
        """The answers to all that a server wants to know at once, or the first question without one.

        Raises:
            ToolError: it wants what nobody can give it.
        """
        before, responses = Counter(self._counted), dict[str, Any]()
        for key, request in (wanted.input_requests or {}).items():
            answer = self._one(request)
            if isinstance(answer, Question):
                kept = {RESULT: wanted.model_dump(mode="json", by_alias=True, exclude_none=True), COUNTED: dict(before)}
                return Question(answer.prompt, answer.schema, again=answer.again, kept=kept)
            responses[key] = answer
        return responses

    def _one(self, request: object) -> ElicitResult | Question:
        match request:
            case ElicitRequest():
                return self.answer(request.params)
            case CreateMessageRequest() | ListRootsRequest():
                raise ToolError(f"The server wants {request.method} to carry out the call, which it is not given here.")
            case _:
                raise ToolError("The server wants something to carry out the call that is not known here.")

    def _name(self, params: ElicitRequestFormParams) -> str:
        about = digest_of({"message": repair(params.message), "schema": repair(dict(params.requested_schema))})
        self._counted[about] += 1
        return f"{about}/{self._counted[about]}"
