"""`turnwright turn …`: one turn."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Annotated, Literal

import typer

from turnwright.client.access import HowElse
from turnwright.client.cli import plain
from turnwright.client.cli.asked import answer_facts, asked_facts, started_facts, what
from turnwright.client.cli.options import Json, Reason, RequestId, Revision, Timeout, TurnId, WhyNeeded, how
from turnwright.client.cli.receipts import tell_receipt
from turnwright.client.cli.running import Runner
from turnwright.client.cli.screen import Screen
from turnwright.client.cli.turn_facts import turn_facts, why_words
from turnwright.client.cli.watching import answer, follow
from turnwright.client.client import Client
from turnwright.client.questions import Question
from turnwright.client.turn import Turn
from turnwright.journal.commands import Receipt

Outcome = Literal["succeeded", "failed", "run_again"]
Words = Annotated[str, typer.Argument(metavar="TEXT", help="What to tell the turn.")]
CallId = Annotated[str, typer.Argument(metavar="CALL", help="The call's id, as `turn show` tells it.")]
Became = Annotated[Outcome, typer.Argument(metavar="OUTCOME", help="succeeded, failed or run_again.")]
Output = Annotated[str, typer.Option("--output", help="What the model is told as the call's result.")]
Follow = Annotated[bool, typer.Option("--follow", "-f", help="Show what happens meanwhile.")]


class TurnCommands:
    """The commands with the runner they use."""

    def __init__(self, runner: Runner) -> None:
        self._runner = runner

    def add_to(self, app: typer.Typer) -> None:
        """Add them to a group."""
        looks = (self.show, self.why, self.wait)
        commands = (self.pause, self.resume, self.cancel, self.steer, self.retry, self.reconcile)
        for command in (*looks, *commands):
            app.command(command.__name__)(command)

    def show(self, turn: TurnId, *, as_json: Json = False) -> None:
        """Show a turn: its task, where it stands, what it did and used, its answer, and what it asks."""

        async def run(client: Client, screen: Screen) -> None:
            found = await client.turn(turn)
            report, asked = await found.report(), await found.questions()
            if screen.as_json:
                screen.json(plain.turn_report(report) | {"questions": [plain.question(question) for question in asked]})
                return
            screen.facts(turn_facts(report))
            for question in asked:
                screen.line("")
                screen.facts(_question_facts(question))

        self._runner.run(run, as_json=as_json)

    def why(self, turn: TurnId, *, as_json: Json = False) -> None:
        """Say in one sentence what a turn waits for; of a call of unknown outcome, also what was called."""

        async def run(client: Client, screen: Screen) -> None:
            found = await client.turn(turn)
            told = await found.why()
            asked = await found.questions() if told.code == "waiting" else ()
            if screen.as_json:
                questions = [plain.question(question) for question in asked]
                screen.json({"turn_id": found.id} | plain.why(told) | {"questions": questions})
                return
            screen.line(why_words(told))
            for question in asked:
                if question.kind == "unknown_outcome":
                    screen.line("")
                    screen.facts(
                        [("what", what(question)), *started_facts(question), ("message", question.message or "")]
                    )

        self._runner.run(run, as_json=as_json)

    def wait(self, turn: TurnId, *, follow_it: Follow = False, timeout: Timeout = None, as_json: Json = False) -> None:
        """Wait for a turn's end and show its answer. Waiting, and giving up waiting, change nothing."""

        async def run(client: Client, screen: Screen) -> None:
            found = await client.turn(turn)
            await (follow(found, screen, timeout) if follow_it else answer(found, screen, timeout))

        self._runner.run(run, as_json=as_json)

    def pause(
        self, turn: TurnId, *, reason: Reason = None, request_id: RequestId = None, as_json: Json = False
    ) -> None:
        """Stop a turn at its next boundary."""
        self._command(turn, lambda found: found.pause(**how(reason, request_id)), as_json=as_json)

    def resume(
        self,
        turn: TurnId,
        *,
        revision: Revision = None,
        reason: Reason = None,
        request_id: RequestId = None,
        as_json: Json = False,
    ) -> None:
        """End a turn's own pause."""
        self._command(turn, lambda found: found.resume(revision, **how(reason, request_id)), as_json=as_json)

    def cancel(
        self, turn: TurnId, *, reason: Reason = None, request_id: RequestId = None, as_json: Json = False
    ) -> None:
        """Stop a turn for good."""
        self._command(turn, lambda found: found.cancel(**how(reason, request_id)), as_json=as_json)

    def steer(
        self,
        turn: TurnId,
        text: Words,
        *,
        reason: Reason = None,
        request_id: RequestId = None,
        as_json: Json = False,
    ) -> None:
        """Give a turn another message, which its next model call sees."""
        self._command(turn, lambda found: found.steer(text, **how(reason, request_id)), as_json=as_json)

    def retry(
        self, turn: TurnId, *, reason: Reason = None, request_id: RequestId = None, as_json: Json = False
    ) -> None:
        """Put a failed turn back at the head of its queue."""
        self._command(turn, lambda found: found.retry(**how(reason, request_id)), as_json=as_json)

    def reconcile(
        self,
        turn: TurnId,
        call: CallId,
        outcome: Became,
        *,
        reason: WhyNeeded,
        output: Output = "",
        request_id: RequestId = None,
        as_json: Json = False,
    ) -> None:
        """Say what became of a call that started and left no result."""
        said = output or ()
        also: HowElse = {} if request_id is None else {"request_id": request_id}
        self._command(turn, lambda found: found.reconcile(call, outcome, said, reason=reason, **also), as_json=as_json)

    def _command(self, turn: str, command: Callable[[Turn], Awaitable[Receipt]], *, as_json: bool) -> None:
        async def run(client: Client, screen: Screen) -> None:
            found = await client.turn(turn)
            await tell_receipt(found, await command(found), screen)

        self._runner.run(run, as_json=as_json)


def _question_facts(question: Question) -> list[tuple[str, str]]:
    about = f" about call {question.call_id}" if question.call_id else ""
    return [
        ("asked", f"{question.kind} {question.interaction_id}{about}"),
        *asked_facts(question),
        *answer_facts(question),
    ]
