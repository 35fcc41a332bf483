"""A tool may return a change of the thread's state or a question; what cannot be is an error result with words."""

from typing import Any

import pytest

from tests.unit.activities.calling import run, text
from turnwright.activities.tool_host import ToolOutcome
from turnwright.activities.tool_output import Attachment, ToolOutput
from turnwright.activities.tool_results import OPS_MAX, Changed, External, Question
from turnwright.activities.tools import tool
from turnwright.journal.commands import Ask
from turnwright.journal.state_ops import DecideObjective, EnterPlan, WritePlan

SCHEMA = {"type": "object", "properties": {"n": {"type": "integer"}}}


async def returned(value: object) -> ToolOutcome:
    @tool
    async def give() -> Any:  # noqa: ANN401 - whatever the test returns
        """Give a value."""
        return value

    return await run(give)


async def test_a_change_carries_its_operations_beside_the_output() -> None:
    outcome = await returned(Changed(EnterPlan(), WritePlan(document="x"), says={"done": 2}))
    assert outcome.ops == (EnterPlan(), WritePlan(document="x"))
    assert (outcome.result.outcome, text(outcome), outcome.asks) == ("success", '{"done":2}', None)


async def test_a_change_may_say_nothing_or_bring_a_file() -> None:
    assert (await returned(Changed(EnterPlan()))).result.output == ()
    outcome = await returned(Changed(EnterPlan(), says=ToolOutput("see:", Attachment(b"x", "image/png"))))
    assert len(outcome.blobs) == 1
    assert outcome.ops == (EnterPlan(),)


@pytest.mark.parametrize(
    ("value", "said"),
    [
        (Changed(DecideObjective(verdict="confirmed")), "wants DecideObjective, which no tool may do"),  # type: ignore[arg-type]
        (Changed("enter_plan"), "wants str, which no tool may do"),  # type: ignore[arg-type]
        (Changed(WritePlan.model_construct(document=5)), "a WritePlan that is none"),  # type: ignore[arg-type]
        (Changed(*[EnterPlan()] * (OPS_MAX + 1)), "at most"),
        (Changed(EnterPlan(), says="x" * 2_000), "larger than"),
        (Changed(EnterPlan(), says=object()), "no JSON value"),
        (Changed(EnterPlan(), says=Question("?")), "Question is no output"),
        (ToolOutput("see:", External("?")), "External is no output"),  # type: ignore[arg-type]
        (Question(""), "its prompt must have"),
        (Question("x" * 20_000), "its prompt must have"),
        (Question("?", {"type": "nonsense"}), "the schema is not valid: type"),
        (Question("?", {"type": "string"}), 'must have "type": "object"'),
        (Question("?", {"$ref": "https://example.com"}), "must lead to a definition"),
        (Question("?", [1]), "a schema is a JSON object"),  # type: ignore[arg-type]
        (Question("?", deadline_s=0), "deadline_s"),
        (External("?", deadline_s=float("nan")), "deadline_s"),
        (External("?", deadline_s="soon"), "deadline_s"),  # type: ignore[arg-type]
    ],
)
async def test_what_cannot_be_is_an_error_result_that_says_why(value: object, said: str) -> None:
    outcome = await returned(value)
    assert outcome.result.outcome == "error"
    assert said in text(outcome)
    assert (outcome.ops, outcome.asks) == ((), None)


async def test_a_question_is_asked_as_a_form_and_has_no_output() -> None:
    outcome = await returned(Question("How many?", SCHEMA, deadline_s=60))
    assert outcome.asks == Ask("form", {"prompt": "How many?", "schema": SCHEMA}, 60)
    assert outcome.result.output == ()
    assert (await returned(Question("How many?"))).asks == Ask("form", {"prompt": "How many?"})


async def test_what_happens_outside_is_asked_as_external() -> None:
    assert (await returned(External("Deploy it"))).asks == Ask("external", {"prompt": "Deploy it"})
