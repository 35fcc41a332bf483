"""Entries that concern a thread as a whole."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, ClassVar, Literal

from turnwright.journal.agent_state import AgentState, UsageState
from turnwright.journal.agents import AgentDefinition
from turnwright.journal.entries.base import ByPrincipal, Payload
from turnwright.journal.entries.session import CloseMode
from turnwright.journal.ids import ThreadKey
from turnwright.journal.messages import Frozen, Message
from turnwright.journal.state_parts import PermissionState

PauseSource = Literal["command", "on_failure"]


class Note(Frozen):
    """Something of a document from elsewhere that was repaired, left out or not understood, and where it stands."""

    place: str
    text: str


class ThreadOpened(Payload):
    """The agent's definition is pinned: every later step of the thread uses this one."""

    TYPE: ClassVar[str] = "thread.opened"
    VERSION: ClassVar[int] = 2
    agent: AgentDefinition


class ThreadForked(ByPrincipal):
    """The thread begins with the state that another one of its agent had at the entry `at_seq`, whose hash is here too.

    `origin` is that thread's name, `session` the session it is in (None: this one). What the thread's own decisions go
    by is here; the rest is read where it stands. `agent` None: the origin had pinned none yet, so the fork pins its own
    when its first turn starts.
    """

    TYPE: ClassVar[str] = "thread.forked"
    VERSION: ClassVar[int] = 2
    origin: str
    at_seq: int
    origin_hash: str
    agent: AgentDefinition | None = None
    permissions: PermissionState
    planning: bool = False
    injected: int = 0
    session: str | None = None

    def origin_of(self, fork: ThreadKey) -> ThreadKey:
        """The key of the thread that this one was forked from: nothing of it is said that a session's move changes."""
        return replace(fork, thread=self.origin, session=self.session or fork.session)


class ThreadMadeWhole(ByPrincipal):
    """What a fork begins with, so that its origin is needed no more: the `state` that its first entry names."""

    TYPE: ClassVar[str] = "thread.made_whole"
    state: AgentState


class ThreadRewound(ByPrincipal):
    """The thread goes on with the state it had at the entry `to_seq`; what came since stays in its history.

    `usage` goes on counting: what was used was used. `agent`: the one that the thread has pinned since that entry; a
    thread pins one once.
    """

    TYPE: ClassVar[str] = "thread.rewound"
    to_seq: int
    to_hash: str
    permissions: PermissionState
    planning: bool = False
    injected: int = 0
    usage: UsageState = UsageState()
    agent: AgentDefinition | None = None


class ThreadImported(ByPrincipal):
    """The thread begins with a state from elsewhere; unknown keys survive in `state`.

    The `messages` follow as entries of their own, and so do permissions and a plan. `digest` is that of the document,
    `notes` say what of it was repaired, left out or not understood.
    """

    TYPE: ClassVar[str] = "thread.imported"
    source: str
    state: dict[str, Any]
    messages: int = 0
    digest: str = ""
    notes: tuple[Note, ...] = ()


class MessageImported(Payload):
    """A message of the conversation that the thread began with."""

    TYPE: ClassVar[str] = "message.imported"
    message: Message


class ThreadPaused(ByPrincipal):
    """No operation of the thread starts until it is resumed."""

    TYPE: ClassVar[str] = "thread.paused"
    revision: int
    source: PauseSource = "command"


class ThreadResumed(ByPrincipal):
    """The thread's own pause flag is lifted."""

    TYPE: ClassVar[str] = "thread.resumed"
    revision: int


class ThreadClosed(ByPrincipal):
    """No new turn; the queue is finished or cancelled."""

    TYPE: ClassVar[str] = "thread.closed"
    mode: CloseMode = "finish"
