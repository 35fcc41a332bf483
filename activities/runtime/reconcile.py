"""The question to a tool's hook: what became of a call that started and has no result?

Rule: the hook finds out and changes nothing, so asking needs no claim: whoever asks twice gets the same
answer, and the journal takes the first.
"""

from __future__ import annotations

from typing import Any

import structlog

from turnwright.activities.runtime.attempt import Attempt
from turnwright.activities.runtime.call_facts import context_of, tool_of
from turnwright.activities.runtime.supervise import supervise
from turnwright.activities.runtime.tool_call import asked_for, call_of
from turnwright.journal.commands import SettleCall
from turnwright.workflows.payloads import Next

log = structlog.get_logger(__name__)


async def reconcile_call(attempt: Attempt) -> Next:
    """Ask the tool's hook what became of a call, and record what it knows."""
    given = attempt.given
    state = await attempt.state()
    asked = asked_for(state, given.call)
    outcome = await attempt.look()
    call = call_of(outcome, given)
    if outcome.rejection is not None or call is None or call.state != "unknown":
        return attempt.next_of(outcome)
    base: dict[str, Any] = {**attempt.named, "ordinal": call.ordinal, "call_id": call.call_id}
    unknown = SettleCall(**base, outcome="unknown")
    if asked is None:
        return await attempt.report(unknown, unknown)
    tool = await tool_of(attempt, state, asked.name)
    if tool is None:
        raise attempt.agent_unknown(asked.name)
    hook = attempt.parts.tools.reconcile(tool, asked, context_of(attempt, state, call.call_id, call.ordinal))
    ended = await supervise(hook, attempt.stop, attempt.parts.settings.model_stop_s)
    found = ended.value
    if found is None and ended.stopped is None:
        log.error("reconcile_broke", exc_info=ended.error)
        return await attempt.report(unknown, unknown)
    if found is None:
        return attempt.next_of(await attempt.look())
    settled = SettleCall(**base, outcome=found.status, output=found.output, blobs=found.blobs)
    return await attempt.report(settled, unknown)
