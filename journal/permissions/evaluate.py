"""May this call run? The lines that decide, in their order; the first that has an opinion is the answer.

Rule: nothing overrules a deny rule, and nothing but a line below asks or allows. In the mode `dont_ask` there is nobody
to ask, so asking means no.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Final, Literal, TypeAlias

from turnwright.journal.permissions.call import CallSeen
from turnwright.journal.permissions.patterns import first_match, heeds_paths
from turnwright.journal.permissions.places import Places
from turnwright.journal.permissions.rules import rule_text
from turnwright.journal.state_parts import PermissionState, Rule

Decision: TypeAlias = Literal["allow", "ask", "deny"]


@dataclass(frozen=True, slots=True)
class Verdict:
    """The answer, which line gave it (such as `rule:deny refund(amount=*)`), and why in words."""

    decision: Decision
    source: str
    message: str = ""


@dataclass(frozen=True)  # without slots: the places are worked out once, for all rules
class Asked:
    """What is to be decided: a call, under these permissions."""

    permissions: PermissionState
    planning: bool
    call: CallSeen

    @cached_property
    def places(self) -> Places:
        """The call's paths, seen from the working directories."""
        return Places.of(self.call, self.permissions.working_directories)

    def first(self, rules: tuple[Rule, ...], *, granting: bool) -> Rule | None:
        """The first of the rules that is about the call."""
        return first_match(rules, self.call, self.places, granting=granting)


Line: TypeAlias = Callable[[Asked], Verdict | None]


def _deny_rules(asked: Asked) -> Verdict | None:
    rule = asked.first(asked.permissions.deny, granting=False)
    return None if rule is None else Verdict("deny", _source("deny", rule), f"The rule {rule_text(rule)} denies it.")


def _explore(asked: Asked) -> Verdict | None:
    if asked.permissions.mode != "explore" or asked.call.effect == "read":
        return None
    return Verdict("deny", "mode:explore", "Only tools that read may be used in the mode explore.")


def _plan(asked: Asked) -> Verdict | None:
    if not asked.planning or asked.call.effect == "read":
        return None
    return Verdict("deny", "plan", "Only tools that read may be used while a plan is made.")


def _ask_rules(asked: Asked) -> Verdict | None:
    rule = asked.first(asked.permissions.ask, granting=False)
    return None if rule is None else Verdict("ask", _source("ask", rule), f"The rule {rule_text(rule)} asks.")


def _unlocated(asked: Asked) -> Verdict | None:
    """No rule about paths is passed because it could not be found out where one leads."""
    rules = (*asked.permissions.deny, *asked.permissions.ask)
    stands = asked.call.unlocated and any(heeds_paths(rule, asked.call) for rule in rules)
    return UNLOCATED if stands else None


def _check(asked: Asked) -> Verdict | None:
    call, check = asked.call, asked.call.facts.check
    if not call.has_check:
        return Verdict("allow", "read") if call.effect == "read" else None
    if check is None:
        return Verdict("ask", "check", "The tool's own check was not made.")
    return None if check.verdict == "pass" else Verdict(check.verdict, "check", check.message)


def _check_denies(asked: Asked) -> Verdict | None:
    verdict = _check(asked)
    return verdict if verdict is not None and verdict.decision == "deny" else None


def _allow_rules(asked: Asked) -> Verdict | None:
    rule = asked.first(asked.permissions.allow, granting=True)
    return None if rule is None else Verdict("allow", _source("allow", rule))


def _accept_edits(asked: Asked) -> Verdict | None:
    # A command line does more than its paths say, such as the folder it is run in.
    if asked.permissions.mode != "accept_edits" or asked.call.command is not None:
        return None
    return Verdict("allow", "mode:accept_edits") if asked.places.all_inside else None


def _bypass(asked: Asked) -> Verdict | None:
    return Verdict("allow", "mode:bypass") if asked.permissions.mode == "bypass" else None


LINES: Final[tuple[Line, ...]] = (
    _deny_rules, _explore, _plan, _ask_rules, _unlocated, _check, _allow_rules, _accept_edits, _bypass,
)  # fmt: skip
DENY_LINES: Final[tuple[Line, ...]] = (_deny_rules, _explore, _plan, _check_denies)
UNLOCATED: Final = Verdict("ask", "paths", "Where its paths really lead could not be found out, so no rule allows it.")
DEFAULT: Final = Verdict("ask", "default", "No rule and no mode allows it.")


def evaluate(permissions: PermissionState, planning: bool, call: CallSeen) -> Verdict:  # noqa: FBT001 - a fact, no option
    """Whether the call may run, must be asked about, or must not run."""
    verdict = _decided(LINES, Asked(permissions, planning, call)) or (UNLOCATED if call.unlocated else DEFAULT)
    if verdict.decision == "ask" and permissions.mode == "dont_ask":
        return Verdict("deny", "mode:dont_ask", f"Nobody is asked in the mode dont_ask. {verdict.message}".rstrip())
    return verdict


def forbidden(permissions: PermissionState, planning: bool, call: CallSeen) -> Verdict | None:  # noqa: FBT001 - as above
    """What stands against the call even if a person approved it; None: nothing."""
    return _decided(DENY_LINES, Asked(permissions, planning, call))


def _decided(lines: tuple[Line, ...], asked: Asked) -> Verdict | None:
    verdicts = (line(asked) for line in lines)
    return next((verdict for verdict in verdicts if verdict is not None), None)


def _source(kind: Decision, rule: Rule) -> str:
    return f"rule:{kind} {rule_text(rule)}"
