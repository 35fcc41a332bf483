"""Which rule decides a command. Rule: one table from command type to rule; nothing else branches on it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from turnwright.journal.commands import (
    CancelThread,
    ChangeState,
    ClaimRun,
    ClearContext,
    ClientCommand,
    CloseThread,
    CompactContext,
    CompactThread,
    CountUsage,
    EndChild,
    FailModel,
    FinishTool,
    ImportThread,
    Inject,
    InterruptModel,
    ListTools,
    Look,
    PauseThread,
    RequestModel,
    RespondModel,
    ResumeThread,
    RewindThread,
    RunCommand,
    SetBudget,
    SetPermissions,
    SettleCall,
    StartTool,
    Submit,
    TakeIn,
    TakeTick,
    TurnCommand,
    UpdateState,
)
from turnwright.journal.control import SessionControl, ThreadControl
from turnwright.journal.decide import (
    admin,
    children,
    claims,
    compaction,
    enlisted,
    forking,
    importing,
    listing,
    model_testimony,
    schedules,
    thread_rules,
    tool_testimony,
)
from turnwright.journal.decide.context import UNKNOWN_SESSION, Context, Decision
from turnwright.journal.decide.table import decide_turn_command
from turnwright.journal.edge import storable
from turnwright.journal.facts import Facts

RULES: Mapping[type, Callable[[Context, Any], Decision]] = {
    Submit: thread_rules.submit,
    TakeIn: enlisted.take_in,
    TakeTick: schedules.take_tick,
    Inject: thread_rules.inject,
    ImportThread: importing.import_thread,
    PauseThread: thread_rules.pause_thread,
    ResumeThread: thread_rules.resume_thread,
    CancelThread: thread_rules.cancel_thread,
    CloseThread: thread_rules.close_thread,
    SetPermissions: admin.set_permissions,
    SetBudget: admin.set_budget,
    ChangeState: admin.change_state,
    UpdateState: admin.update_state,
    ClearContext: admin.clear_context,
    CompactThread: compaction.request_compaction,
    RewindThread: forking.rewind,
    CountUsage: admin.count_usage,
    ClaimRun: claims.claim_run,
    Look: claims.look,
    RequestModel: claims.request_model,
    StartTool: claims.start_tool,
    CompactContext: compaction.compact_context,
    ListTools: listing.list_tools,
    RespondModel: model_testimony.respond_model,
    FailModel: model_testimony.fail_model,
    InterruptModel: model_testimony.interrupt_model,
    FinishTool: tool_testimony.finish_tool,
    SettleCall: tool_testimony.settle_call,
    EndChild: children.end_child,
}


def decide(
    control: ThreadControl, session: SessionControl, facts: Facts, command: ClientCommand | RunCommand
) -> Decision:
    """May this happen to the thread now, and what does it record?

    The control must have `settle`'s drafts folded in. An empty list means: accepted, nothing new to record.
    """
    context, command = Context(control, session, facts), storable(command)
    if isinstance(command, ClientCommand) and not session.created:
        return UNKNOWN_SESSION
    if isinstance(command, TurnCommand):
        return decide_turn_command(context, command)
    return RULES[type(command)](context, command)
