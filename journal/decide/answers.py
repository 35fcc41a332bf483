"""What an answer to an open question records, by the question's kind.

Rule: a question is answered once, by what its kind can be answered with; anything else is rejected with what
would do. What the answer means is recorded in the same batch, so nothing depends on somebody reading it later.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from pydantic import ValidationError

from turnwright.journal import entry_ids
from turnwright.journal.budgets import Budget, Scope
from turnwright.journal.canonical import digest_of, encode, repair
from turnwright.journal.commands import CallSpec, Rejection, Respond
from turnwright.journal.control import ActiveTurn, CallOperation, OpenInteraction
from turnwright.journal.decide.context import Context, Decision, who_asked
from turnwright.journal.decide.policy import seen
from turnwright.journal.entries import (
    BudgetChanged,
    Draft,
    InteractionResolved,
    Payload,
    PermissionsChanged,
    ToolDecided,
    ToolFinished,
)
from turnwright.journal.errors import InvalidInput
from turnwright.journal.interactions import Interaction
from turnwright.journal.json_schema import check_schema, problems
from turnwright.journal.messages import Text
from turnwright.journal.permissions.call import CallSeen
from turnwright.journal.permissions.change import PermissionChange, changed
from turnwright.journal.permissions.evaluate import forbidden
from turnwright.journal.permissions.facts import CallFacts
from turnwright.journal.permissions.globs import glob_matches
from turnwright.journal.permissions.rules import parse_rule
from turnwright.journal.permissions.suggest import may_cover, suggestions
from turnwright.journal.spending import budgets, spent, still_over
from turnwright.journal.state_parts import Rule
from turnwright.journal.turn_status import TurnStatus

DENIED_TEXT = "The user chose not to run this call."
DECLINED_TEXT = "The user chose not to answer."
FAILED_TEXT = "What was waited for outside failed."
NO_CALL = Rejection("not_open", "the call is not part of the turn any more")
Meaning: TypeAlias = list[Payload] | Rejection


@dataclass(frozen=True, slots=True)
class Answered:
    """An open question with what it is about, and the answer to it. `asked` is what the journal says of it."""

    context: Context
    active: ActiveTurn
    question: OpenInteraction
    call: CallOperation | None
    asked: Mapping[str, Any]
    command: Respond


def respond(context: Context, status: TurnStatus, command: Respond) -> Decision:
    """Save the answer to an open question, with what follows from it."""
    active = context.control.turn(status.turn_id)
    question = None if active is None else active.interaction(command.interaction_id)
    if active is None or question is None:
        return _not_open(context, status, command)
    rules = ANSWERS[question.kind]
    rule = rules.get(command.resolution)
    if rule is None:
        return _no_such_answer(question, command, rules)
    asked = {} if context.facts.asked is None else context.facts.asked.asked
    call = active.call(question.call_id or "")
    meaning = rule(Answered(context, active, question, call, asked, command))
    if isinstance(meaning, Rejection):
        return meaning
    resolved = InteractionResolved(
        interaction_id=question.interaction_id,
        resolution=command.resolution,
        answer=command.answer,
        principal=command.principal,
        reason=command.reason,
    )
    return numbered(command.request_id, status.turn_id, active.step, [resolved, *meaning])


def numbered(request_id: str, turn_id: str, step: int, payloads: list[Payload]) -> list[Draft]:
    """The drafts of a command about a turn."""
    return [
        Draft(entry_ids.command(request_id, i), payload, turn_id=turn_id, step=step)
        for i, payload in enumerate(payloads)
    ]


def _not_open(context: Context, status: TurnStatus, command: Respond) -> Rejection:
    known = context.facts.question
    if known is None or known.turn_id != status.turn_id:
        return Rejection("unknown_interaction", f"this turn was never asked {command.interaction_id}")
    if known.state == "open":
        return Rejection("not_open", f"question {command.interaction_id} is not open on this turn")
    return _over(known)


def too_late(context: Context) -> Rejection | None:
    """Who settled the question of a command that no phase of its turn takes any more; None: nobody did."""
    known = context.facts.question
    return None if known is None or known.state in ("open", "cancelled") else _over(known)


def _over(known: Interaction) -> Rejection:
    if known.state == "expired":
        return Rejection("expired", f"the time to answer {known.interaction_id} is over ({known.resolution})")
    by = f" by {known.principal}" if known.principal else ""
    return Rejection("already_answered", f"{known.interaction_id} was settled already{by}: {known.resolution}")


def _no_such_answer(question: OpenInteraction, command: Respond, rules: Mapping[str, Answer]) -> Rejection:
    if question.kind == "unknown_outcome":
        return Rejection("needs_reconcile", "an unknown outcome is settled with `reconcile`")
    ways = " or ".join(rules)
    return Rejection(
        "bad_answer", f"a question of kind {question.kind} is answered with {ways}, not {command.resolution!r}"
    )


# -- approvals -------------------------------------------------------------------------------------


def _approve(given: Answered) -> Meaning:
    call, answer = given.call, given.command.answer
    wrong = _unknown_fields(answer, "arguments", "always")
    if wrong is not None or call is None:
        return wrong or NO_CALL
    edited = answer.get("arguments")
    refused = _unfit(given, call, edited)
    rule = refused or _rule_for(given, call, "allow")
    if isinstance(rule, Rejection):
        return rule
    decided = _decided(given, call, "allow")
    if edited is not None:
        decided = decided.model_copy(update={"arguments": edited, "arguments_digest": digest_of(edited)})
    return [decided, *rule]


def _deny(given: Answered) -> Meaning:
    call, answer = given.call, given.command.answer
    wrong = _unknown_fields(answer, "message", "always") or _no_words(answer)
    if wrong is not None or call is None:
        return wrong or NO_CALL
    rule = _rule_for(given, call, "deny")
    if isinstance(rule, Rejection):
        return rule
    said = answer.get("message") or given.command.reason or DENIED_TEXT
    return [_decided(given, call, "deny"), _finished(call, "denied", said), *rule]


def _decided(given: Answered, call: CallOperation, decision: str) -> ToolDecided:
    return ToolDecided(
        call_id=call.call_id,
        name=call.name,
        decision=decision,  # type: ignore[arg-type]
        source=f"person:{given.command.principal}",
        effect=call.effect,
        arguments_digest=call.digest,
        reconcilable=call.reconcilable,
    )


def _unfit(given: Answered, call: CallOperation, edited: object) -> Rejection | None:
    """Why these arguments cannot be approved: they are no arguments of the tool, or a rule denies them."""
    if edited is not None and not isinstance(edited, dict):
        return Rejection("invalid_arguments", "arguments are an object of names and values")
    spec = CallSpec.of_asked(call.effect, given.asked.get("spec"))
    # A tool may have a schema that is too free to be checked here; then its worker finds out.
    checkable = edited is not None and check_schema(spec.parameters) is None
    wrong = problems(spec.parameters, edited) if checkable else []
    if wrong:
        return Rejection("invalid_arguments", f"the arguments do not fit {call.name}: {'; '.join(wrong)}")
    control = given.context.control
    verdict = forbidden(control.permissions, control.planning, _approved(given, call, edited))
    if verdict is None:
        return None
    what = "the call may not run" if edited is None else "the call may not run with these arguments"
    why = f" {verdict.message}" if verdict.message else ""
    return Rejection("forbidden", f"{what}: what this agent may do forbids it ({verdict.source}).{why}")


def _approved(given: Answered, call: CallOperation, edited: Mapping[str, Any] | None) -> CallSeen:
    """The call as it will run, with what is known of it; where a changed path leads its worker finds out."""
    asked = given.asked.get("arguments", {})
    arguments = asked if edited is None else edited
    same = {n: places for n, places in given.asked.get("resolved", {}).items() if arguments.get(n) == asked.get(n)}
    facts = CallFacts.model_validate({"resolved": same})
    return seen(call.name, arguments, CallSpec.of_asked(call.effect, given.asked.get("spec")), facts)


def _rule_for(given: Answered, call: CallOperation, kind: str) -> list[Payload] | Rejection:
    """The rule that `always` adds: the one it says, or the first that was suggested."""
    always = given.command.answer.get("always")
    if always is None or always is False:
        return []
    if always is not True and not isinstance(always, str):
        return Rejection("bad_rule", "always is true, or the rule as text, such as refund(amount=1*)")
    command = given.command
    if kind == "allow" and given.asked.get("why") not in (None, "default", "paths"):
        return Rejection("bad_rule", f"no allow rule would be heard: {given.asked['why']} comes before it and asks")
    text = _suggested(given, call, kind) if always is True else always
    if text is None:
        return Rejection(
            "bad_rule", f"nothing narrower than all calls of {call.name} is suggested; say the rule itself"
        )
    try:
        rule = parse_rule(text, source=f"person:{command.principal}")
        if always is not True and not _is_about_it(given, call, rule, granting=kind == "allow"):
            return Rejection("bad_rule", f"the rule {text} does not cover this call; say one that does")
        permissions = changed(given.context.control.permissions, PermissionChange(add=((kind, rule),)))  # type: ignore[arg-type]
    except InvalidInput as error:
        return Rejection("bad_rule", str(error))
    return [PermissionsChanged(permissions=permissions, principal=command.principal, reason=command.reason)]


def _is_about_it(given: Answered, call: CallOperation, rule: Rule, *, granting: bool) -> bool:
    """Whether the rule is about the call as it will run; where nobody knows, as with an erased question, it may be."""
    edited = given.command.answer.get("arguments")
    if edited is None and "arguments" not in given.asked:
        return glob_matches(rule.tool, call.name, broad=True)
    return may_cover(rule, _approved(given, call, edited), given.context.control.permissions, granting=granting)


def _suggested(given: Answered, call: CallOperation, kind: str) -> str | None:
    """The first rule that was suggested; for arguments a person changed, what would be suggested for these.

    Allowing all command lines, or all calls of a tool whose question is erased, is for a person to say in words.
    """
    texts: Sequence[str] = given.asked.get("suggestions") or ()
    edited = given.command.answer.get("arguments")
    if kind == "deny":
        return texts[0] if texts else call.name
    if edited is not None:
        texts = suggestions(_approved(given, call, edited), given.context.control.permissions.working_directories)
    spec = CallSpec.of_asked(call.effect, given.asked.get("spec"))
    too_wide = not texts or (spec.command is not None and texts[0] == call.name)
    return None if too_wide else texts[0]


# -- questions of tools ----------------------------------------------------------------------------


def _answer(given: Answered) -> Meaning:
    schema = given.asked.get("schema")
    wrong = [] if schema is None else problems(schema, given.command.answer)
    if wrong:
        return Rejection("invalid_answer", f"the answer does not fit what was asked: {'; '.join(wrong)}")
    if given.question.again:
        return [] if given.call is not None else NO_CALL
    return _result(given, "success", _words(given.command.answer))


def _decline(given: Answered) -> Meaning:
    answer = given.command.answer
    said = answer.get("message") or given.command.reason or DECLINED_TEXT
    wrong = _unknown_fields(answer, "message") or _no_words(answer)
    if wrong is None and given.question.again and given.call is not None:
        return []
    return wrong or _result(given, "denied", said)


def _delivered(given: Answered) -> Meaning:
    return _unknown_fields(given.command.answer, "output") or _result(
        given, "success", _words(given.command.answer.get("output", ""))
    )


def _failed(given: Answered) -> Meaning:
    said = given.command.answer.get("output") or given.command.reason or FAILED_TEXT
    return _unknown_fields(given.command.answer, "output") or _result(given, "error", _words(said))


def _result(given: Answered, outcome: str, text: str) -> Meaning:
    if given.call is None:
        return NO_CALL
    return [_finished(given.call, outcome, text)]


def _words(value: object) -> str:
    return value if isinstance(value, str) else encode(repair(value)).decode()


# -- budgets ---------------------------------------------------------------------------------------


def _raise_budget(given: Answered) -> Meaning:
    """Give more: what is named replaces its bound, the others stay; naming nothing lifts them all.

    A session's budget is raised at the session, for its other threads go by it too.
    """
    scope = given.question.scope or "turn"
    if scope == "session":
        return _session_has_room(given)
    wrong = _unknown_fields(given.command.answer, "budget")
    if wrong is not None:
        return wrong
    try:
        budget = _raised(given, scope)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        return Rejection("invalid_budget", f"{'.'.join(map(str, first['loc'])) or 'budget'}: {first['msg']}")
    over = still_over(given.question, budget, spent(given.context.control, given.context.facts, scope))
    if over:
        return Rejection("still_over_budget", f"that much or more is used already: {', '.join(over)}")
    who = who_asked(given.command)
    return [BudgetChanged(scope=scope, budget=budget, **who)]


def _raised(given: Answered, scope: Scope) -> Budget:
    named = given.command.answer.get("budget")
    if named is None:
        return Budget()
    now = dict(budgets(given.context.control, given.context.session, given.context.facts)).get(scope, Budget())
    Budget.model_validate(named)  # what is wrong with it is said of what was written, not of the whole
    return Budget.model_validate(now.model_dump() | named)


def _session_has_room(given: Answered) -> Meaning:
    context, budget = given.context, given.context.session.budget
    used = spent(context.control, context.facts, "session")
    over = () if budget is None else still_over(given.question, budget, used)
    if not over:
        return []
    return Rejection("still_over_budget", f"raise the session's budget first; used up: {', '.join(over)}")


def _fail(_: Answered) -> Meaning:
    return []


# -- shared ----------------------------------------------------------------------------------------


def _unknown_fields(answer: Mapping[str, Any], *known: str) -> Rejection | None:
    unknown = sorted(set(answer) - set(known))
    if not unknown:
        return None
    return Rejection("bad_answer", f"unknown in the answer: {', '.join(unknown)}; it may have {', '.join(known)}")


def _no_words(answer: Mapping[str, Any]) -> Rejection | None:
    """What is wrong with the words the model is to be told, if any are given."""
    said = answer.get("message")
    return None if said is None or isinstance(said, str) else Rejection("bad_answer", "message is a text")


def _finished(call: CallOperation, outcome: str, text: str) -> ToolFinished:
    return ToolFinished(
        call_id=call.call_id,
        name=call.name,
        ordinal=call.ordinal,
        outcome=outcome,  # type: ignore[arg-type]
        output=(Text(text=text),),
    )


Answer: TypeAlias = Callable[[Answered], Meaning]
ANSWERS: Mapping[str, Mapping[str, Answer]] = {
    "approval": {"approve": _approve, "deny": _deny},
    "form": {"answer": _answer, "decline": _decline},
    "external": {"succeeded": _delivered, "failed": _failed},
    "budget": {"raise": _raise_budget, "fail": _fail},
    "unknown_outcome": {},
}
