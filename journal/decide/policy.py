"""Whether a call may run: the permissions, asked when the model wants it and again when a worker takes it.

Rule: a deny holds always. What a person approved is these arguments and no others: with others it is asked again.
Nothing here looks at a file or runs a tool's check; the worker brings what it found as `CallFacts`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from turnwright.journal import entry_ids
from turnwright.journal.canonical import digest_of
from turnwright.journal.commands import CallSpec, StartTool
from turnwright.journal.control import CallOperation
from turnwright.journal.decide.context import Context
from turnwright.journal.entries import InteractionRequested, Payload, ToolDecided, ToolFinished
from turnwright.journal.messages import Text, ToolCall
from turnwright.journal.permissions.call import CallSeen
from turnwright.journal.permissions.evaluate import Verdict, evaluate, forbidden
from turnwright.journal.permissions.facts import CallFacts
from turnwright.journal.permissions.suggest import suggestions

UNFIT = "unfit"


def seen(name: str, arguments: Mapping[str, Any], spec: CallSpec, facts: CallFacts | None = None) -> CallSeen:
    """A call as the permissions see it."""
    return CallSeen(
        tool=name,
        arguments=dict(arguments),
        effect=spec.effect,
        paths=spec.paths,
        command=spec.command,
        facts=facts or CallFacts(),
        checked=spec.checked,
    )


def decide_call(context: Context, call: ToolCall, spec: CallSpec, facts: CallFacts) -> list[Payload]:
    """What is recorded about a call the model asks for: it may run, it may not, or a person is asked."""
    control = context.control
    subject = seen(call.name, call.arguments, spec, facts)
    verdict = evaluate(control.permissions, control.planning, subject)
    verdict = _unfit(verdict, facts) or verdict
    operation = CallOperation(
        call_id=call.id,
        name=call.name,
        effect=spec.effect,
        digest=digest_of(call.arguments),
        reconcilable=spec.reconcilable,
    )
    return _recorded(context, operation, verdict, subject, spec)


def decide_start(context: Context, call: CallOperation, command: StartTool) -> list[Payload]:
    """What stands against starting the call now; nothing: it may start."""
    if command.spec is None:
        return []
    control, spec = context.control, command.spec
    subject = seen(call.name, command.arguments, spec, command.facts)
    digest = digest_of(command.arguments)
    approved = call.approved and digest == call.digest
    lines = forbidden if approved else evaluate
    verdict = lines(control.permissions, control.planning, subject)
    verdict = _unfit(verdict, subject.facts) or verdict
    if verdict is None or verdict.decision == "allow":
        return []
    fresh = call.model_copy(update={"digest": digest})
    return _recorded(context, fresh, verdict, subject, spec)


def _unfit(verdict: Verdict | None, facts: CallFacts) -> Verdict | None:
    """What is said of a call that cannot be made, unless it is denied anyway; nobody is asked about it."""
    if facts.unfit is None or (verdict is not None and verdict.decision == "deny"):
        return None
    return Verdict("deny", UNFIT, facts.unfit)


def refusal_text(verdict: Verdict) -> str:
    """What a model is told of a call that no rule allows; it is nobody's choice of this moment."""
    why = f" {verdict.message}" if verdict.message else ""
    return f"This call was not run: what this agent may do does not include it ({verdict.source}).{why}"


def _recorded(
    context: Context, call: CallOperation, verdict: Verdict, subject: CallSeen, spec: CallSpec
) -> list[Payload]:
    decided = ToolDecided(
        call_id=call.call_id,
        name=call.name,
        decision=verdict.decision,
        source=verdict.source,
        effect=call.effect,
        arguments_digest=call.digest,
        reconcilable=call.reconcilable,
    )
    match verdict.decision:
        case "allow":
            return [decided]
        case "deny":
            return [decided, _not_run(call, verdict)]
        case "ask":
            return [decided, _question(context, call, verdict, subject, spec)]


def _not_run(call: CallOperation, verdict: Verdict) -> ToolFinished:
    unfit = verdict.source == UNFIT
    text = verdict.message if unfit else refusal_text(verdict)
    return ToolFinished(
        call_id=call.call_id,
        name=call.name,
        ordinal=call.ordinal,
        outcome="error" if unfit else "denied",
        output=(Text(text=text),),
        by="rule",
    )


def _question(
    context: Context, call: CallOperation, verdict: Verdict, subject: CallSeen, spec: CallSpec
) -> InteractionRequested:
    terms, active = context.control.approvals, context.control.active
    return InteractionRequested(
        interaction_id=entry_ids.approval(call.call_id, call.asks),
        kind="approval",
        call_id=call.call_id,
        arguments_digest=call.digest,
        asked={
            "tool": call.name,
            "arguments": subject.arguments,
            "effect": call.effect,
            "why": verdict.source,
            "message": verdict.message,
            # An allow rule is heard after ask rules and the tool's own check, so it would not help with these.
            "suggestions": list(suggestions(subject)) if verdict.source == "default" else [],
            "spec": spec.as_asked(),
            "resolved": {name: list(places) for name, places in subject.facts.resolved.items()},
        },
        deadline_us=context.facts.due_us(terms.deadline_s),
        on_expiry=terms.on_expiry,
        parent=None if active is None else active.status.parent,
    )
