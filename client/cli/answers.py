"""`turnwright approvals answer|decline|deliver|raise|fail`: what tools ask, and budgets that are used up."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any

import typer

from turnwright.client.access import How
from turnwright.client.cli.answering import Decision, Give, Ids, Meant, answer
from turnwright.client.cli.budgets import CostUsd, Steps, Tokens, ToolCalls, WallTime, budget_given
from turnwright.client.cli.bulk import MOST, All, Most, Yes
from turnwright.client.cli.deciding import Message
from turnwright.client.cli.giving import given_json, given_object, given_text
from turnwright.client.cli.inbox_filters import Asked, OfTool
from turnwright.client.cli.options import Json, Reason, RequestId, how
from turnwright.client.cli.running import Runner
from turnwright.client.cli.turn_filters import Anonymous, InSession, OfAgent, OfUser
from turnwright.client.questions import Question
from turnwright.client.turn import Turn
from turnwright.journal.commands import Receipt
from turnwright.journal.entries.operation import InteractionKind
from turnwright.journal.errors import InvalidInput

Answer = Annotated[
    str | None, typer.Option("--answer", metavar="JSON", help="An object that fits the question's schema; @file, -.")
]
Words = Annotated[str | None, typer.Option("--text", help="The answer in words, to what `ask_user` asks.")]
Output = Annotated[str | None, typer.Option("--output", metavar="TEXT", help="The result as text; @file, or -.")]
OutputJson = Annotated[str | None, typer.Option("--output-json", metavar="JSON", help="The result as JSON; @file, -.")]
Failed = Annotated[bool, typer.Option("--failed", help="It failed; the output says how.")]
QuestionIds = Annotated[list[str], typer.Argument(metavar="ID", help="The questions' ids.")]


class AnswerCommands:
    """The commands with the runner they use."""

    def __init__(self, runner: Runner) -> None:
        self._runner = runner

    def add_to(self, app: typer.Typer) -> None:
        """Add them to a group."""
        for command in (self.answer, self.decline, self.deliver, self.fail):
            app.command(command.__name__)(command)
        app.command("raise")(self.raise_)

    def answer(  # noqa: PLR0913 - one for each option
        self,
        ids: Ids = None,
        *,
        given: Answer = None,
        text: Words = None,
        session: InSession = None,
        user: OfUser = None,
        anonymous: Anonymous = False,
        agent: OfAgent = None,
        tool: OfTool = None,
        all_: All = False,
        yes: Yes = False,
        limit: Most = MOST,
        reason: Reason = None,
        request_id: RequestId = None,
        as_json: Json = False,
    ) -> None:
        """Answer forms: those that are named, or with --yes all that the filters find."""
        asked = Asked(session=session, user=user, anonymous=anonymous, agent=agent, tool=tool)
        meant = Meant(ids=ids or (), asked=asked, all_=all_, yes=yes, limit=limit)

        def begin() -> Give:
            words = _words(given, text)
            return lambda turn, question, said: turn.answer(question.interaction_id, words, **said)

        decision = Decision(verb="answer", kind="form", begin=begin)
        answer(self._runner, meant, decision, how(reason, request_id), as_json=as_json)

    def deliver(  # noqa: PLR0913 - one for each option
        self,
        ids: Ids = None,
        *,
        output: Output = None,
        output_json: OutputJson = None,
        failed: Failed = False,
        session: InSession = None,
        user: OfUser = None,
        anonymous: Anonymous = False,
        agent: OfAgent = None,
        tool: OfTool = None,
        all_: All = False,
        yes: Yes = False,
        limit: Most = MOST,
        reason: Reason = None,
        request_id: RequestId = None,
        as_json: Json = False,
    ) -> None:
        """Deliver what calls wait for outside: those that are named, or with --yes all that the filters find."""
        asked = Asked(session=session, user=user, anonymous=anonymous, agent=agent, tool=tool)
        meant = Meant(ids=ids or (), asked=asked, all_=all_, yes=yes, limit=limit)

        def begin() -> Give:
            brought = _brought(output, output_json, failed=failed)
            return lambda turn, question, said: turn.deliver(question.interaction_id, brought, failed=failed, **said)

        decision = Decision(verb="deliver to", kind="external", begin=begin)
        answer(self._runner, meant, decision, how(reason, request_id), as_json=as_json)

    def decline(
        self,
        ids: QuestionIds,
        *,
        message: Message = None,
        reason: Reason = None,
        request_id: RequestId = None,
        as_json: Json = False,
    ) -> None:
        """Do not answer forms; the model is told so."""

        async def give(turn: Turn, question: Question, said: How) -> Receipt:
            return await turn.decline(question.interaction_id, message, **said)

        self._named(ids, "form", give, how(reason, request_id), as_json=as_json)

    def raise_(  # noqa: PLR0913 - one for each option
        self,
        ids: QuestionIds,
        *,
        steps: Steps = None,
        tokens: Tokens = None,
        cost_usd: CostUsd = None,
        wall_time: WallTime = None,
        tool_calls: ToolCalls = None,
        reason: Reason = None,
        request_id: RequestId = None,
        as_json: Json = False,
    ) -> None:
        """Go on over a budget of a turn or thread; what is not named stays as it was."""

        async def give(turn: Turn, question: Question, said: How) -> Receipt:
            budget = budget_given(steps, tokens, cost_usd, wall_time, tool_calls)
            if budget is None and question.scope != "session":
                raise InvalidInput("say what may be used: --steps, --tokens, --cost-usd, --wall-time, --tool-calls")
            return await turn.raise_budget(question.interaction_id, budget, **said)

        self._named(ids, "budget", give, how(reason, request_id), as_json=as_json)

    def fail(
        self, ids: QuestionIds, *, reason: Reason = None, request_id: RequestId = None, as_json: Json = False
    ) -> None:
        """Do not go on over a budget: the turn fails."""

        async def give(turn: Turn, question: Question, said: How) -> Receipt:
            return await turn.fail_budget(question.interaction_id, **said)

        self._named(ids, "budget", give, how(reason, request_id), as_json=as_json)

    def _named(self, ids: Sequence[str], kind: InteractionKind, give: Give, said: How, *, as_json: bool) -> None:
        decision = Decision(verb="answer", kind=kind, begin=lambda: give)
        answer(self._runner, Meant(ids=ids), decision, said, as_json=as_json)


def _words(given: str | None, text: str | None) -> dict[str, Any] | str:
    if given is not None and text is None:
        return given_object("--answer", given)
    if text is not None and given is None:
        return text
    raise InvalidInput("say the answer: --answer JSON, or --text WORDS")


def _brought(output: str | None, output_json: str | None, *, failed: bool) -> object:
    if output is not None and output_json is not None:
        raise InvalidInput("--output and --output-json exclude each other")
    if output is None and output_json is None and not failed:
        raise InvalidInput("say the result: --output TEXT, or --output-json JSON; or that it --failed")
    if output_json is not None:
        return given_json("--output-json", output_json)
    return "" if output is None else given_text(output)
