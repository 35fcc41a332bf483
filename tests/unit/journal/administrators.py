"""Random histories of a thread: what administrators do to permissions, budgets and state.

Rule: a change may come at any time, and what cannot be changed now must leave no trace.
"""

from __future__ import annotations

from typing import Any, Literal, TypeAlias

from hypothesis import strategies as st
from hypothesis.stateful import precondition, rule
from hypothesis.strategies import SearchStrategy as Strategy

from tests.unit.journal.agent import may
from tests.unit.journal.people import PeopleOfAThread
from turnwright.journal.budgets import Budget, Used
from turnwright.journal.commands import (
    ChangeState,
    ClearContext,
    CompactThread,
    RewindThread,
    SetBudget,
    SetPermissions,
    SetSessionBudget,
    UpdateState,
)
from turnwright.journal.permissions.change import PermissionChange, RuleKind
from turnwright.journal.permissions.rules import parse_rule
from turnwright.journal.state_ops import BeginTask, EnterPlan, LeavePlan, StateOp, WriteTodos
from turnwright.journal.state_parts import Mode, PermissionState, Todo

RULES = ("send", "put", "look", "refund", "send(to=eve)", "*(to=eve)", "put(to=eve)")
KINDS: tuple[RuleKind, ...] = ("allow", "ask", "deny")

texts = st.lists(st.sampled_from(RULES), max_size=2, unique=True).map(tuple)
modes: Strategy[Mode] = st.sampled_from(["bypass", "bypass", "default", "explore", "dont_ask"])
permissions: Strategy[PermissionState] = st.builds(may, modes, allow=texts, ask=texts, deny=texts)
bounds = st.sampled_from([{}, {}, {"steps": 2}, {"tokens": 40}, {"tool_calls": 1}, {"wall_time_s": 40}, {"steps": 0}])
budgets: Strategy[Budget] = bounds.map(Budget.model_validate)
ops: Strategy[StateOp] = st.sampled_from(
    [
        WriteTodos(todos=(Todo(id="1", subject="measure"),)),
        WriteTodos(todos=(), expected_revision=1),
        EnterPlan(),
        LeavePlan(),
        LeavePlan(),
        BeginTask(objective="sell"),
    ]
)
shares = st.sampled_from([Used(), Used(), Used(steps=5), Used(tokens=30)])
Scope: TypeAlias = Literal["thread", "turns", "session"]
scopes: Strategy[Scope] = st.sampled_from(["thread", "turns", "session"])
updates: Strategy[dict[str, Any]] = st.sampled_from(
    [{"summary": "before"}, {"plan": {"active": True}}, {"plan": {"document": "d"}}, {"tools": ["none"]}, {"agent": 1}]
)


@st.composite
def changes(draw: st.DrawFn) -> PermissionChange:
    kind, text = draw(st.sampled_from(KINDS)), draw(st.sampled_from(RULES))
    rules = ((kind, parse_rule(text)),)
    match draw(st.sampled_from(["add", "add", "remove", "mode"])):
        case "add":
            return PermissionChange(add=rules)
        case "remove":
            return PermissionChange(remove=rules)
        case _:
            return PermissionChange(mode=draw(modes))


class AdministratorsOfAThread(PeopleOfAThread):
    """A thread, the people who use it, and those who may change what it may do."""

    @precondition(lambda self: self.machine.control.opened)
    @rule(data=st.data(), what=st.sampled_from(["tighten", "permit", "permit", "lift", "budget", "budget", "others"]))
    def administer(self, data: st.DataObject, what: str) -> None:
        match what:
            case "tighten":
                kind: RuleKind = data.draw(st.sampled_from(["ask", "deny"]))
                self._permit(PermissionChange(add=((kind, parse_rule(data.draw(st.sampled_from(RULES)))),)))
            case "permit":
                self._permit(data.draw(changes()))
            case "lift":
                known = self.machine.control.permissions
                rules = tuple((kind, found) for kind in KINDS for found in getattr(known, kind) if kind != "allow")
                self._permit(PermissionChange(mode="bypass", remove=rules))
            case "budget":
                self._set_budget(data.draw(budgets), data.draw(scopes))
            case _:
                self.machine.elsewhere, self.machine.reserved = data.draw(shares), data.draw(shares)

    @precondition(lambda self: self.machine.control.active is None)
    @rule(data=st.data(), back=st.sampled_from([0, 0, 0, 1]))
    def rewind(self, data: st.DataObject, back: int) -> None:
        seq, states, before = self.machine.control.seq, self.machine.states, self.machine.state
        to = data.draw(st.integers(0, seq))
        command = RewindThread(request_id=self.new("rewind"), to_seq=to, expected_seq=seq - back)
        if not self.world.do(command).accepted:
            return
        state, base = self.machine.state, states[to]
        assert not back, "the thread was rewound by somebody who had not read it"
        assert state.context[: len(base.context)] == base.context
        assert not state.pending_calls
        assert state.agent == (base.agent or before.agent), "a thread pins its agent once"
        own = {"context", "compaction", "inbox", "usage", "as_of_seq"}
        own |= {"agent", "permissions"} if base.agent is None else set()
        assert state.model_dump(exclude=own) == base.model_dump(exclude=own)

    def _permit(self, change: PermissionChange) -> None:
        before = self.machine.control.permissions
        step = self.world.do(SetPermissions(request_id=self.new("permit"), change=change))
        assert step.accepted or self.machine.control.permissions == before

    def _set_budget(self, budget: Budget, scope: Scope) -> None:
        if scope == "session":
            self.world.do_session(SetSessionBudget(request_id=self.new("budget"), budget=budget))
        else:
            self.world.do(SetBudget(request_id=self.new("budget"), scope=scope, budget=budget))

    @precondition(lambda self: self.machine.turns)
    @rule(
        data=st.data(), what=st.sampled_from(["op", "update", "clear", "compact"]), back=st.sampled_from([0, 0, 0, 1])
    )
    def change_the_state(self, data: st.DataObject, what: str, back: int) -> None:
        if what == "op":
            self.world.do(ChangeState(request_id=self.new("op"), op=data.draw(ops)))
            return
        if what == "compact":
            asked = self.machine.state.compaction.requested_seq
            step = self.world.do(CompactThread(request_id=self.new("compact")))
            assert step.accepted == (bool(self.machine.state.context) and not asked)
            return
        request, seq = self.new("update"), self.machine.control.seq - back
        before, update = self.machine.state, data.draw(updates)
        step = self.world.do(
            ClearContext(request_id=request, expected_seq=seq)
            if what == "clear"
            else UpdateState(request_id=request, expected_seq=seq, changes=update, reason="tidy")
        )
        if step.accepted:
            assert not back, "the state was changed by somebody who had not read it"
            assert not before.pending_calls, "the state was changed while a call had no result"
            assert what == "clear" or not set(update) & {"tools", "agent"}
