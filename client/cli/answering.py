"""What the commands that answer questions have in common: which questions, and what happens to each.

Rule: a question that is named is answered at once. Questions that a filter finds are only shown, unless `--yes` is
said; then the ones that were found are answered, each with a receipt of its own.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Annotated

import typer

from turnwright.client.access import How
from turnwright.client.cli import plain
from turnwright.client.cli.asked import question_table
from turnwright.client.cli.bulk import MOST, act, more_left, nothing_done
from turnwright.client.cli.inbox_filters import Asked
from turnwright.client.cli.receipts import tell_receipt, tell_rule
from turnwright.client.cli.running import Runner
from turnwright.client.cli.screen import Screen
from turnwright.client.client import Client
from turnwright.client.questions import Question
from turnwright.client.turn import Turn
from turnwright.journal.commands import Receipt
from turnwright.journal.entries.operation import InteractionKind
from turnwright.journal.errors import InvalidInput

Ids = Annotated[
    list[str] | None, typer.Argument(metavar="ID", help="The questions' ids; without one, filters say which.")
]
Give = Callable[[Turn, Question, How], Awaitable[Receipt]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Meant:
    """Which questions are meant: by id, or by filter."""

    ids: Sequence[str] = ()
    asked: Asked = field(default_factory=Asked)
    all_: bool = False
    yes: bool = False
    limit: int = MOST


@dataclass(frozen=True, slots=True, kw_only=True)
class Decision:
    """A decision: its verb and the kind of question it is about. `begin` reads what was said, and gives it.

    `always`: it adds a rule for what comes, which is told.
    """

    verb: str
    kind: InteractionKind
    begin: Callable[[], Give]
    always: bool = False


def answer(runner: Runner, meant: Meant, decision: Decision, said: How, *, as_json: bool) -> None:
    """Run the command that answers what is meant with the decision."""

    async def run(client: Client, screen: Screen) -> None:
        give = decision.begin()
        if meant.ids:
            await _answer_named(client, meant, give, said, screen, always=decision.always)
        else:
            await _answer_found(client, meant, decision, give, said, screen)

    runner.run(run, as_json=as_json)


async def _answer_named(client: Client, meant: Meant, give: Give, said: How, screen: Screen, *, always: bool) -> None:
    if not meant.asked.everything or meant.all_:
        raise InvalidInput("ids and filters exclude each other; say one or the other")
    found = [await client.interaction(name) for name in dict.fromkeys(meant.ids)]
    if len(found) > 1:
        await _each(client, found, give, said, screen)
        return
    [question] = found
    turn = client.turn_of(question)
    receipt = await give(turn, question, said)
    await tell_receipt(turn, receipt, screen)
    if always:
        await tell_rule(client, turn, receipt, screen)


async def _answer_found(
    client: Client, meant: Meant, decision: Decision, give: Give, said: How, screen: Screen
) -> None:
    if meant.asked.everything and not meant.all_:
        raise InvalidInput(f"say which questions to {decision.verb}: ids, filters (--session, --tool, …), or --all")
    page = await replace(meant.asked, kind=decision.kind).page(client, None, meant.limit)
    more = page.next is not None
    if meant.yes:
        await _each(client, page.items, give, said, screen)
        if more:
            more_left(screen)
    elif screen.as_json:
        questions = [plain.question(question) for question in page.items]
        screen.json({"would": decision.verb, "questions": questions, "more": more})
    else:
        question_table(page.items, screen)
        nothing_done(decision.verb, len(page.items), "question", screen, more=more)


async def _each(client: Client, questions: Sequence[Question], give: Give, said: How, screen: Screen) -> None:
    if "request_id" in said:
        raise InvalidInput("--request-id is of one command; give the id of one question with it")
    if not questions:
        screen.note("there are no such questions")
    quietly: How = {**said, "check": False}

    async def command(question: Question) -> Receipt:
        return await give(client.turn_of(question), question, quietly)

    await act(questions, command, lambda question: question.interaction_id, screen)
