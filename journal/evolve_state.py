"""`evolve` for AgentState: what a recorded fact changes in what the agent knows.

Rule: a table from payload type to function. A type that is not in it changes only `as_of_seq`. A fork and a rewind are
folded into the state of the entry they begin at (`transact.bases` finds it), not into that of the entry before them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, TypeAlias

from turnwright.journal.agent_state import AgentState, Compaction, PendingInput, UsageState
from turnwright.journal.entries import (
    ContextCleared,
    ContextCompacted,
    ContextCompactionFailed,
    ContextCompactionRequested,
    ContextOffloaded,
    Entry,
    InputApplied,
    InputDiscarded,
    InputInjected,
    InputSteered,
    MemoryChanged,
    MessageImported,
    ModelFailed,
    ModelInterrupted,
    ModelLate,
    ModelResponded,
    PermissionsChanged,
    PlanChanged,
    StateUpdated,
    TasksChanged,
    ThreadForked,
    ThreadImported,
    ThreadOpened,
    ThreadRewound,
    ToolDecided,
    ToolFinished,
    ToolReconciled,
    ToolsChanged,
    ToolsListed,
    TurnQueued,
    TurnStarted,
    UsageCounted,
)
from turnwright.journal.messages import NO_ENTRY, Block, Message, Outcome, Text, ToolCall, ToolResult, Usage
from turnwright.journal.permissions.change import joined

UNKNOWN_TEXT = "The outcome of this call is unknown: it started, and no result was recorded."
INTERRUPTED_TEXT = "The call was interrupted before it finished."

_JOINED: Mapping[type, str] = {InputSteered: "steered", InputInjected: "injected"}


_Counted: TypeAlias = (
    ModelResponded
    | ModelFailed
    | ModelInterrupted
    | ModelLate
    | ContextCompacted
    | ContextCompactionFailed
    | UsageCounted
)


def evolve_state(state: AgentState, entry: Entry) -> AgentState:
    """The state after a committed entry."""
    change = _STATE.get(type(entry.payload))
    update = {} if change is None else change(state, entry, entry.payload)
    return state.model_copy(update=update | {"as_of_seq": entry.seq})


def fold_state(state: AgentState, entries: Iterable[Entry]) -> AgentState:
    """The state after all of these entries, in order."""
    for entry in entries:
        state = evolve_state(state, entry)
    return state


def _pending(state: AgentState, entry: Entry, message: Message) -> dict[str, Any]:
    joined = _JOINED.get(type(entry.payload))
    metadata = message.metadata if joined is None else message.metadata | {"input": joined}
    held = message.model_copy(update={"id": entry.entry_id, "seq": entry.seq, "at": _iso(entry), "metadata": metadata})
    turn_id = None if isinstance(entry.payload, InputInjected) else entry.turn_id
    return {"inbox": (*state.inbox, PendingInput(seq=entry.seq, turn_id=turn_id, message=held))}


def _applied(state: AgentState, entry: Entry, payload: InputApplied) -> dict[str, Any]:
    taken = [i for i in state.inbox if i.seq <= payload.through_seq and i.turn_id in (None, entry.turn_id)]
    left = tuple(i for i in state.inbox if i not in taken)
    return {"context": (*state.context, *(i.message for i in taken)), "inbox": left}


def _discarded(state: AgentState, entry: Entry, payload: InputDiscarded) -> dict[str, Any]:
    gone = [i for i in state.inbox if i.seq <= payload.through_seq and i.turn_id == entry.turn_id]
    return {"inbox": tuple(i for i in state.inbox if i not in gone)}


def _responded(state: AgentState, entry: Entry, payload: ModelResponded) -> dict[str, Any]:
    message = _message(entry, "assistant", payload.blocks, usage=payload.usage)
    changes: dict[str, Any] = {"context": (*state.context, message)}
    if payload.refused_media:
        changes["refused_media"] = (*state.refused_media, *payload.refused_media)
    return changes | _used(state, entry, payload)


def _interrupted(state: AgentState, entry: Entry, payload: ModelInterrupted) -> dict[str, Any]:
    changes = _used(state, entry, payload)
    if payload.reason == "cancelled" and payload.partial:
        message = _message(entry, "assistant", payload.partial, metadata={"interrupted": True})
        changes["context"] = (*state.context, message)
    return changes


def _used(
    state: AgentState,
    entry: Entry,
    payload: _Counted,
) -> dict[str, Any]:
    if payload.usage == Usage():
        return {}
    return {"usage": state.usage.plus(entry.turn_id, payload.usage)}


def _decided(state: AgentState, _: Entry, payload: ToolDecided) -> dict[str, Any]:
    """Arguments that were edited by whoever approved the call: they are what runs."""
    if payload.arguments is None:
        return {}
    changes = {"arguments": payload.arguments, "malformed": None, "edited": True}
    return {"context": _with_changed(state.context, ToolCall, payload.call_id, changes)}


def _finished(state: AgentState, entry: Entry, payload: ToolFinished) -> dict[str, Any]:
    outcome = payload.outcome
    if outcome == "lost" or outcome == "drained" or outcome == "deferred":  # noqa: PLR1714 - mypy narrows only this
        return {}
    output = payload.output
    if not output and outcome in ("unknown", "interrupted"):
        output = (Text(text=UNKNOWN_TEXT if outcome == "unknown" else INTERRUPTED_TEXT),)
    result = ToolResult(id=payload.call_id, name=payload.name, output=output, outcome=outcome, by=payload.by)
    return _with_result(state, entry, result)


def _reconciled(state: AgentState, entry: Entry, payload: ToolReconciled) -> dict[str, Any]:
    if payload.outcome == "run_again":
        return {}
    outcome: Outcome = "success" if payload.outcome == "succeeded" else "error"
    result = ToolResult(id=payload.call_id, name=payload.name, output=payload.output, outcome=outcome)
    return _with_result(state, entry, result)


def _with_result(state: AgentState, entry: Entry, result: ToolResult) -> dict[str, Any]:
    return {"context": (*state.context, _message(entry, "tool", (result,)))}


def _message(entry: Entry, role: Any, blocks: tuple[Block, ...], **more: Any) -> Message:  # noqa: ANN401
    return Message(id=entry.entry_id, seq=entry.seq, role=role, blocks=blocks, at=_iso(entry), **more)


def _iso(entry: Entry) -> str:
    return entry.when.isoformat()


def _compacted(state: AgentState, entry: Entry, payload: ContextCompacted) -> dict[str, Any]:
    left = tuple(message for message in state.context if not payload.replaces(message.seq))
    changes = {"context": _uncounted(left), "summary": payload.summary, "compaction": Compaction()}
    return changes | _used(state, entry, payload)


def _compaction_failed(state: AgentState, entry: Entry, payload: ContextCompactionFailed) -> dict[str, Any]:
    failures = state.compaction.failures + 1
    failed = Compaction(failures=failures, failed_tokens=payload.tokens, reason=payload.reason)
    return {"compaction": failed} | _used(state, entry, payload)


def _offloaded(state: AgentState, _: Entry, payload: ContextOffloaded) -> dict[str, Any]:
    stub = {"output": (Text(text=payload.stub),)}
    context = _uncounted(_with_changed(state.context, ToolResult, payload.call_id, stub))
    return {"context": context, "compaction": state.compaction.model_copy(update={"requested_seq": 0})}


def _uncounted(context: tuple[Message, ...]) -> tuple[Message, ...]:
    """The messages without what a provider counted for them: it counted what stands there no more."""
    return tuple(m if m.usage is None else m.model_copy(update={"usage": None}) for m in context)


def _with_changed(
    context: tuple[Message, ...], kind: type[ToolCall | ToolResult], call_id: str, changes: dict[str, Any]
) -> tuple[Message, ...]:
    """The context with the call, or the result, of that id changed; other messages stay the very same."""

    def is_meant(block: Block) -> bool:
        return isinstance(block, kind) and block.id == call_id

    return tuple(
        m.model_copy(update={"blocks": tuple(b.model_copy(update=changes) if is_meant(b) else b for b in m.blocks)})
        if any(map(is_meant, m.blocks))
        else m
        for m in context
    )


def _listed(state: AgentState, _: Entry, payload: ToolsListed) -> dict[str, Any]:
    return {} if state.agent is None else {"agent": state.agent.with_listed(payload.source, payload.tools)}


def _imported(state: AgentState, _: Entry, payload: ThreadImported) -> dict[str, Any]:
    known = {name: value for name, value in payload.state.items() if name in _IMPORTABLE}
    extra = {name: value for name, value in payload.state.items() if name not in _IMPORTABLE}
    return _validated(state, known) | {"extra": dict(state.extra) | extra}


def _brought(state: AgentState, entry: Entry, payload: MessageImported) -> dict[str, Any]:
    return {"context": (*state.context, payload.message.model_copy(update={"id": entry.entry_id, "seq": entry.seq}))}


def _opened(state: AgentState, _: Entry, payload: ThreadOpened) -> dict[str, Any]:
    return {"agent": payload.agent, "permissions": joined(payload.agent.permissions, state.permissions)}


def _updated(state: AgentState, _: Entry, payload: StateUpdated) -> dict[str, Any]:
    changes = _validated(state, {k: v for k, v in payload.changes.items() if k in _IMPORTABLE})
    return changes | {"compaction": Compaction()} if "context" in changes else changes


def _validated(state: AgentState, values: dict[str, Any]) -> dict[str, Any]:
    validated = AgentState.model_validate(state.model_dump(mode="json") | values)
    return {name: getattr(validated, name) for name in values}


def is_base(entry: Entry) -> bool:
    """Whether the state after it is not that of the entry before it, changed, but begins elsewhere."""
    return isinstance(entry.payload, ThreadForked | ThreadRewound)


def _forked(state: AgentState, entry: Entry, payload: ThreadForked) -> dict[str, Any]:
    """What the origin knew; its entries have numbers below zero here, so that -1 is the one it was forked at."""
    _check_base(state, payload.at_seq)
    shift = payload.at_seq + 1
    return {
        "agent": payload.agent,
        "permissions": payload.permissions,
        "context": (*(_shifted(message, shift) for message in state.context), *_closing(state, entry)),
        "inbox": tuple(
            PendingInput(seq=i.seq - shift, turn_id=None, message=_shifted(i.message, shift))
            for i in _without_turns(state)
        ),
        "compaction": Compaction(),
        "usage": UsageState(),
    }


def _rewound(state: AgentState, entry: Entry, payload: ThreadRewound) -> dict[str, Any]:
    _check_base(state, payload.to_seq)
    return {
        "agent": state.agent or payload.agent,
        "permissions": payload.permissions,
        "context": (*state.context, *_closing(state, entry)),
        "compaction": Compaction(),
        "inbox": _without_turns(state),
        "usage": payload.usage,
    }


def _check_base(state: AgentState, seq: int) -> None:
    if state.as_of_seq != seq:
        raise ValueError(f"it begins with the state of entry {seq}, not with that of entry {state.as_of_seq}")


def _without_turns(state: AgentState) -> tuple[PendingInput, ...]:
    """What waits for whatever runs next; no turn of before goes on."""
    return tuple(pending for pending in state.inbox if pending.turn_id is None)


def _closing(state: AgentState, entry: Entry) -> tuple[Message, ...]:
    """Results for the calls of a turn that does not go on here, as an ending turn gives them."""
    pending = state.pending_calls
    calls = [call for message in state.context for call in message.calls if call.id in pending]
    text = (Text(text=INTERRUPTED_TEXT),)
    results = tuple(ToolResult(id=c.id, name=c.name, output=text, outcome="interrupted") for c in calls)
    return (_message(entry, "tool", results),) if results else ()


def _shifted(message: Message, by: int) -> Message:
    """One that somebody wrote into the state is of no entry here either."""
    return message if message.seq == NO_ENTRY else message.model_copy(update={"seq": message.seq - by})


_IMPORTABLE = frozenset({"context", "summary", "permissions", "plan", "memory", "tasks", "tools"})

_STATE: Mapping[type, Callable[[AgentState, Entry, Any], dict[str, Any]]] = {
    ThreadOpened: _opened,
    ThreadForked: _forked,
    ThreadRewound: _rewound,
    ThreadImported: _imported,
    MessageImported: _brought,
    TurnQueued: lambda s, e, p: _pending(s, e, p.input),
    TurnStarted: lambda s, e, _: {"usage": s.usage.of(e.turn_id)},
    InputSteered: lambda s, e, p: _pending(s, e, p.message),
    InputInjected: lambda s, e, p: _pending(s, e, p.message),
    InputApplied: _applied,
    InputDiscarded: _discarded,
    ModelResponded: _responded,
    ModelInterrupted: _interrupted,
    ModelFailed: _used,
    ModelLate: _used,
    UsageCounted: _used,
    ToolDecided: _decided,
    ToolFinished: _finished,
    ToolReconciled: _reconciled,
    ContextCompacted: _compacted,
    ContextCompactionRequested: lambda s, e, _: {
        "compaction": s.compaction.model_copy(update={"requested_seq": e.seq})
    },
    ContextCompactionFailed: _compaction_failed,
    ContextCleared: lambda _, __, ___: {"context": (), "summary": "", "compaction": Compaction()},
    ContextOffloaded: _offloaded,
    PermissionsChanged: lambda _, __, p: {"permissions": p.permissions},
    TasksChanged: lambda _, __, p: {"tasks": p.tasks},
    PlanChanged: lambda _, __, p: {"plan": p.plan},
    MemoryChanged: lambda _, __, p: {"memory": p.memory},
    ToolsChanged: lambda _, __, p: {"tools": p.groups},
    ToolsListed: _listed,
    StateUpdated: _updated,
}
