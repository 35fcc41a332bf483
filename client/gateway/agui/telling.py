"""A run as it is told: what is so, then what happens to its turn, until it has ended or waits for an answer.

Rule: it only reads. A reader that goes away is nothing a turn could notice. What fails once a run has begun is told as
its error, because its status was sent before.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Iterator
from contextlib import aclosing

import structlog
from ag_ui.core import (
    PROTOCOL_VERSION,
    BaseEvent,
    CustomEvent,
    Interrupt,
    RunErrorEvent,
    RunFinishedCancelledOutcome,
    RunFinishedEvent,
    RunFinishedInterruptOutcome,
    RunFinishedSuccessOutcome,
    RunStartedEvent,
)

from turnwright.client.backend import Backend
from turnwright.client.errors import NotFound
from turnwright.client.gateway.agui.fold import Restate, Told, TurnFold, shared_state
from turnwright.client.gateway.agui.history import History
from turnwright.client.gateway.agui.interrupts import interrupt
from turnwright.client.gateway.agui.messages import snapshot
from turnwright.client.gateway.agui.run import Run
from turnwright.client.gateway.problems import problem_of
from turnwright.client.listening import Listener
from turnwright.client.views import TurnView
from turnwright.journal.control import OpenInteraction
from turnwright.journal.driver import Subscription
from turnwright.journal.store import POLL_S

IGNORED = "turnwright.resume_ignored"
TOOLS_IGNORED = "turnwright.tools_ignored"
TOOLS_WHY = "an agent calls the tools it was made with; those of a front end are not offered to it"
OURS_FROM = 500

log = structlog.get_logger(__name__)


async def tell(backend: Backend, run: Run) -> AsyncGenerator[BaseEvent, None]:
    """The events of a run, to its end."""
    yield RunStartedEvent(
        thread_id=run.thread_id,
        run_id=run.run_id,
        protocol_version=PROTOCOL_VERSION,
        metadata={"turnwright": {"turn_id": run.turn_id}},
    )
    try:
        async with aclosing(_told(backend, run)) as events:
            async for event in events:
                yield event
    except Exception as error:
        # Whatever it is, a run that has begun ends with an event.
        problem = problem_of(error)
        if problem.status >= OURS_FROM:
            log.exception("run_interrupted", turn=run.turn_id)
        yield RunErrorEvent(message=problem.detail, code=problem.code)


async def _told(backend: Backend, run: Run) -> AsyncGenerator[BaseEvent, None]:
    for ignored in run.ignored:
        yield CustomEvent(name=IGNORED, value=dict(ignored))
    if run.tools_ignored:
        yield CustomEvent(name=TOOLS_IGNORED, value={"tools": list(run.tools_ignored), "reason": TOOLS_WHY})
    history = History(backend, run.key, run.turn_id, run.after_seq)
    shown = await history.messages()
    yield snapshot(shown, parts=run.current)
    yield shared_state(await backend.state(run.key, run.after_seq))
    telling = _Telling(backend, run)
    async with telling.watch() as watching:
        while not telling.over:
            for told in await telling.more():
                if not isinstance(told, Restate):
                    yield told
                    continue
                before, shown = shown, await history.messages(told.through_seq)
                if shown != before or not told.if_new:
                    yield snapshot(shown, parts=run.current)
            if telling.caught_up and not telling.over:
                await watching.changed(POLL_S)


class _Telling:
    """How far a run is told. `caught_up`: nothing more was there; `over`: its last event was given."""

    def __init__(self, backend: Backend, run: Run) -> None:
        self._backend = backend
        self._run = run
        self._fold = TurnFold(run.after_seq, parts=run.current)
        self._after = run.after_seq
        self._listener = Listener(backend, run.key, run.turn_id)
        self.caught_up = self.over = False

    def watch(self) -> Subscription:
        """What says that there may be more."""
        return self._listener.watch()

    async def more(self) -> list[Told]:
        """What happened since the last time; words of a running call when there are no more entries."""
        # Looked at before the entries are read: what it waits for has been asked in what is read then.
        asked = await _asked(self._backend, self._run)
        page = await self._backend.turn_page(self._run.key, self._run.turn_id, self._after)
        if page is None:
            raise NotFound("turn", self._run.turn_id)
        self._after, self.caught_up = page.through_seq, not page.entries
        told: list[Told] = []
        for entry in page.entries:
            self._listener.passed(entry)
            told += self._fold.add(entry)
        end = await self._end(asked if self.caught_up else [], ended=page.last)
        if end is not None:
            self.over = True
            return [*told, *self._fold.close(), end]
        if self.caught_up:
            told += [event for delta in await self._listener.heard() for event in self._fold.hear(delta)]
        return told

    async def _end(self, asked: list[Interrupt], *, ended: bool) -> BaseEvent | None:
        """The last event, if the turn has ended, or waits for an answer."""
        if ended:
            view = await _view(self._backend, self._run)
            return outcome(self._run, self._fold, view) if view.finished else None
        if asked:
            return _finished(self._run, self._fold, RunFinishedInterruptOutcome(interrupts=asked))
        return None


def outcome(run: Run, fold: TurnFold, view: TurnView) -> BaseEvent:
    """The last event of a run whose turn has ended."""
    match view.phase:
        case "failed":
            message = view.message or "the turn failed"
            return RunErrorEvent(message=message, code=view.code or "internal", usage=fold.usage)
        case "cancelled" if run.current:
            return _finished(run, fold, RunFinishedCancelledOutcome())
        case "cancelled":
            return RunErrorEvent(message="the turn was cancelled", code=view.code or "cancelled", usage=fold.usage)
        case _:
            return _finished(run, fold, RunFinishedSuccessOutcome())


def _finished(
    run: Run,
    fold: TurnFold,
    how: RunFinishedSuccessOutcome | RunFinishedInterruptOutcome | RunFinishedCancelledOutcome,
) -> RunFinishedEvent:
    return RunFinishedEvent(thread_id=run.thread_id, run_id=run.run_id, outcome=how, usage=fold.usage)


async def _asked(backend: Backend, run: Run) -> list[Interrupt]:
    """What the turn waits for, it and its children, or the turn that is before it, as far as it is open questions."""
    view = await _view(backend, run)
    asker = await _active(backend, run) if view.phase == "queued" else view
    if asker is None or asker.phase != "waiting":
        return []
    waiting = [(asked.interaction_id, through) for through, of in _askers(asker) for asked in of]
    found = [(await backend.interaction(interaction_id), through) for interaction_id, through in waiting]
    return [interrupt(question, through) for question, through in found if question and question.state == "open"]


async def _active(backend: Backend, run: Run) -> TurnView | None:
    """The turn of the thread that has begun, if there is one."""
    thread = await backend.thread(run.key)
    active = None if thread is None else thread.control.active
    return None if active is None else await backend.turn(run.key, active.turn_id)


def _askers(view: TurnView) -> Iterator[tuple[str | None, tuple[OpenInteraction, ...]]]:
    """What a turn asks, then what each of its children does, through the call that waits for it."""
    yield None, view.questions
    for child in view.children:
        yield None if child.row.parent is None else child.row.parent.call_id, child.asked


async def _view(backend: Backend, run: Run) -> TurnView:
    view = await backend.turn(run.key, run.turn_id)
    if view is None:
        raise NotFound("turn", run.turn_id)
    return view
