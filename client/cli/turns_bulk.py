"""`turnwright turns pause|resume|cancel|retry`: the same command to all turns that the filters mean."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace

from turnwright.client.access import How
from turnwright.client.cli import plain
from turnwright.client.cli.bulk import MOST, All, Most, Yes, act, more_left, nothing_done
from turnwright.client.cli.options import Json, Reason, how
from turnwright.client.cli.running import Runner
from turnwright.client.cli.screen import Screen
from turnwright.client.cli.turn_filters import Anonymous, Chosen, InPhase, InSession, OfAgent, OfThread, OfUser, Shown
from turnwright.client.cli.turn_rows import turn_table
from turnwright.client.cli.unreadable import note_unreadable
from turnwright.client.client import Client
from turnwright.client.turn import Turn
from turnwright.journal.commands import Receipt
from turnwright.journal.errors import InvalidInput
from turnwright.journal.transact.listing import TurnSeen
from turnwright.journal.turn_status import Phase


@dataclass(frozen=True, slots=True, kw_only=True)
class Verb:
    """A command about turns. `phases` and `held` (the turn's own pause flag): whom it is about, if nobody says."""

    name: str
    about: str
    phases: tuple[Phase, ...] = ("queued", "running", "waiting")
    held: bool | None = None
    give: Callable[[Turn, TurnSeen, How], Awaitable[Receipt]]

    def means(self, seen: TurnSeen) -> bool:
        """Whether it is about this turn."""
        return self.held is None or self.held == seen.status.held


VERBS = (
    Verb(
        name="pause",
        about="Stop turns at their next boundary.",
        held=False,
        give=lambda turn, _, said: turn.pause(**said),
    ),
    Verb(
        name="resume",
        about="End turns' own pauses, if they are still at the revision that was found.",
        held=True,
        give=lambda turn, seen, said: turn.resume(seen.status.revision, **said),
    ),
    Verb(
        name="cancel",
        about="Stop turns for good.",
        give=lambda turn, _, said: turn.cancel(**said),
    ),
    Verb(
        name="retry",
        about="Put failed turns back at the head of their queues.",
        phases=("failed",),
        give=lambda turn, _, said: turn.retry(**said),
    ),
)


def bulk(runner: Runner, verb: Verb) -> Callable[..., None]:
    """The command for that verb."""

    def command(  # noqa: PLR0913 - one for each option
        *,
        session: InSession = None,
        user: OfUser = None,
        anonymous: Anonymous = False,
        agent: OfAgent = None,
        thread: OfThread = None,
        phase: InPhase = None,
        status: Shown = None,
        all_: All = False,
        yes: Yes = False,
        limit: Most = MOST,
        reason: Reason = None,
        as_json: Json = False,
    ) -> None:
        chosen = Chosen(
            session=session,
            user=user,
            anonymous=anonymous,
            agent=agent,
            thread=thread,
            status=status,
            phases=tuple(phase or ()),
        )

        async def run(client: Client, screen: Screen) -> None:
            if chosen.everything and not all_:
                raise InvalidInput(f"say which turns to {verb.name} (--session, --agent, --status, …), or --all")
            found, more = await _found(client, chosen, verb, limit)
            note_unreadable(found, screen)
            found = [seen for seen in found if not seen.unreadable]
            if yes:
                await _give(client, verb, found, how(reason), screen)
                if more:
                    more_left(screen)
            else:
                _preview(verb, found, screen, more=more)

        runner.run(run, as_json=as_json)

    return command


async def _found(client: Client, chosen: Chosen, verb: Verb, limit: int) -> tuple[list[TurnSeen], bool]:
    """The turns that are meant; when the filters say nothing of where they stand, the verb does."""
    if chosen.phases or chosen.status is not None:
        return await chosen.collect(client, limit, lambda _: True)
    return await replace(chosen, phases=verb.phases).collect(client, limit, verb.means)


async def _give(client: Client, verb: Verb, found: list[TurnSeen], said: How, screen: Screen) -> None:
    said = {**said, "check": False}

    async def give(seen: TurnSeen) -> Receipt:
        key = seen.key
        thread = client.session(key.user, key.session).thread(key.agent, key.thread)
        return await verb.give(thread.turn(seen.status.turn_id), seen, said)

    if not found:
        screen.note("there are no such turns")
    await act(found, give, lambda seen: seen.status.turn_id, screen)


def _preview(verb: Verb, found: list[TurnSeen], screen: Screen, *, more: bool) -> None:
    if screen.as_json:
        screen.json({"would": verb.name, "turns": [plain.turn_seen(seen) for seen in found], "more": more})
        return
    turn_table(found, screen, none="there are no such turns")
    nothing_done(verb.name, len(found), "turn", screen, more=more)
