"""Titles and summaries of sessions, made when a turn of theirs has ended.

Rule: beside the turns and never in their way: nothing waits for it, and what goes wrong is logged and tried again after
a later turn. What a model took is counted before what it said is kept, and that it brought nothing is recorded, so
that it is not asked after each turn.
"""

from __future__ import annotations

import asyncio
import contextlib
import uuid
from dataclasses import dataclass

import structlog

from turnwright.activities.agent import Agent
from turnwright.activities.models.port import Model, ModelFailure, ModelRequest, Partial
from turnwright.activities.registry import Registry
from turnwright.activities.unwatched import seen
from turnwright.journal import store_admin
from turnwright.journal.agent_state import AgentState
from turnwright.journal.budgets import exhausted
from turnwright.journal.commands import CountUsage, DescribeSession
from turnwright.journal.control import SessionControl
from turnwright.journal.describing import (
    ANSWER_TOKENS_MAX,
    INSTRUCTIONS,
    described,
    first_words,
    held_back,
    parts_of,
    summary_due,
)
from turnwright.journal.entries.session import MadeOf
from turnwright.journal.ids import ThreadKey
from turnwright.journal.messages import Usage, user
from turnwright.journal.store import Journal

log = structlog.get_logger(__name__)
PRINCIPAL = "turnwright"
MODEL_TIMEOUT_S = 60.0
STOP_S = 5.0
WAITING_MAX = 1_000
SAID_NOTHING = "the model's answer is empty"


@dataclass(frozen=True, slots=True)
class _Wanted:
    """What is to be made: a title, by a model or of the first words, a summary, or both."""

    title: bool
    summary: bool
    asks: bool


@dataclass(frozen=True, slots=True)
class _Made:
    """What was made; `failed`: why a model that was asked brought not all that was wanted."""

    title: str = ""
    summary: str = ""
    failed: str = ""


class Describing:
    """Describes the sessions whose turns ended on this worker, one after another."""

    def __init__(self, journal: Journal, registry: Registry, models: Model) -> None:
        self._journal = journal
        self._registry = registry
        self._models = models
        self._waiting: dict[ThreadKey, None] = {}
        self._some = asyncio.Event()
        self._task: asyncio.Task[None] | None = None

    def start(self) -> None:
        """Begin; harmless when it works."""
        if self._task is None:
            self._task = asyncio.create_task(self._run(), name="describing")

    async def stop(self) -> None:
        """End; what was not made yet is made after another turn. A model that does not let go is left alone."""
        task, self._task = self._task, None
        if task is None:
            return
        task.cancel()
        _, left = await asyncio.wait({task}, timeout=STOP_S)
        if left:
            log.warning("describing_left", effect="what its model takes is not counted")
            task.add_done_callback(seen)

    def ended(self, key: ThreadKey) -> None:
        """A turn of the thread has ended."""
        agent = self._registry.get(key.agent)
        if agent is None or not (agent.titles or agent.summaries) or len(self._waiting) >= WAITING_MAX:
            return
        self._waiting[key] = None
        self._some.set()

    async def _run(self) -> None:
        while True:
            await self._some.wait()
            self._some.clear()
            while self._waiting:
                key = next(iter(self._waiting))
                del self._waiting[key]
                try:
                    await self._describe(key)
                except Exception as error:  # noqa: BLE001 - whatever it is, the next session is not to suffer from it
                    log.warning("session_not_described", session=key.session_key.canonical, error=str(error))

    async def _describe(self, key: ThreadKey) -> None:
        agent, session = self._registry.get(key.agent), await self._journal.session(key.session_key)
        if agent is None or session is None or session.deleted or not await self._is_first(key):
            return
        state = await self._journal.state(key)
        made = await self._make(key, agent, session.control, state)
        if made == _Made():
            return
        command = DescribeSession(
            request_id=f"describe-{uuid.uuid4().hex}",
            principal=PRINCIPAL,
            made_of=MadeOf(agent=key.agent, thread=key.thread, through_seq=state.as_of_seq),
            log_seq=session.control.seq,
            title=made.title,
            summary=made.summary,
            failed=made.failed,
        )
        await self._journal.execute(key.session_key, command)

    async def _make(self, key: ThreadKey, agent: Agent, control: SessionControl, state: AgentState) -> _Made:
        wanted = _wanted(agent, control, state)
        title = first_words(state) if wanted.title else ""
        if not wanted.asks:
            return _Made(title)
        answer, failed = await self._answer(key, agent, control, state)
        said, summary = parts_of(answer)
        if agent.titles == "model":
            title = said if wanted.title else ""
        if answer:
            failed = _missing(wanted, said, summary)
        return _Made(title, summary if wanted.summary else "", failed)

    async def _is_first(self, key: ThreadKey) -> bool:
        """Whether the session is this thread's to describe: its first one's, and not that of another beside it."""
        page = await store_admin.list_threads(self._journal, key.session_key, None, 1)
        return page is not None and [seen.key for seen in page.items] == [key]

    async def _answer(
        self, key: ThreadKey, agent: Agent, control: SessionControl, state: AgentState
    ) -> tuple[str, str]:
        """What the model says, and why that is nothing if it is; neither when a budget is used up."""
        told, definition = described(control, state), state.agent
        if not told or definition is None or await self._used_up(key, control):
            return "", ""
        own = agent.context.summary_model is None
        request = ModelRequest(
            model=agent.context.summary_model or definition.model,
            instructions=INSTRUCTIONS,
            messages=(user(told),),
            settings={**(definition.model_settings if own else {}), "max_tokens": ANSWER_TOKENS_MAX},
            base_url=definition.base_url if own else None,
        )
        partial = Partial()
        try:
            async with asyncio.timeout(MODEL_TIMEOUT_S):
                response = await self._models.respond(request, partial)
        except asyncio.CancelledError:
            with contextlib.suppress(Exception):  # it leaves, whether the journal is there or not
                await self._count(key, partial.usage)
            raise
        except Exception as error:  # noqa: BLE001 - one nobody foresaw is a failure like the others
            log.warning("session_not_described", session=key.session_key.canonical, error=str(error))
            used = error.usage if isinstance(error, ModelFailure) else partial.usage
            said = "", _why(error)
        else:
            used = response.usage
            said = "".join(block.text for block in response.blocks if block.type == "text"), SAID_NOTHING
        await self._count(key, used)
        return said

    async def _used_up(self, key: ThreadKey, control: SessionControl) -> bool:
        row = await self._journal.thread(key)
        thread = None if row is None else row.control
        of_session = await store_admin.session_used(self._journal, key.session_key)
        return bool(
            (thread is not None and thread.budget is not None and exhausted(thread.budget, thread.used))
            or (control.budget is not None and of_session is not None and exhausted(control.budget, of_session))
        )

    async def _count(self, key: ThreadKey, usage: Usage) -> None:
        if usage != Usage():
            await self._journal.execute(
                key, CountUsage(request_id=f"count-{uuid.uuid4().hex}", principal=PRINCIPAL, usage=usage)
            )


def _wanted(agent: Agent, control: SessionControl, state: AgentState) -> _Wanted:
    may_ask = not held_back(control, state)
    title = agent.titles is not None and control.title is None
    by_model = title and agent.titles == "model"
    summary = agent.summaries and summary_due(control, state) and may_ask
    return _Wanted(title and (may_ask or not by_model), summary, asks=summary or (by_model and may_ask))


def _missing(wanted: _Wanted, title: str, summary: str) -> str:
    """What of that which was wanted the answer has not; empty: nothing."""
    if wanted.summary and not summary:
        return "the model's answer has no summary"
    return "" if title else SAID_NOTHING


def _why(error: Exception) -> str:
    """Why there is no answer, in our words: a provider's may quote what was said."""
    if isinstance(error, ModelFailure):
        return f"the model failed: {error.failure}"
    return f"the model failed: {type(error).__name__}"
