"""Whatever dies, is cancelled or runs dry in a family of turns, everybody comes to rest, and nobody spends too much."""

from __future__ import annotations

from random import Random

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.unit.journal.families import Family
from tests.unit.journal.scene import USAGE
from turnwright.journal.budgets import Budget
from turnwright.journal.commands import CancelTurn
from turnwright.journal.entries import ChildFinished, ChildSpawned, ToolFinished

MOVES = 120
CANCELS, DIES, SPAWNS, DETACHED = 0.01, 0.1, 0.5, 0.1
ROUNDS_MAX = 1_000
NO_RESULT = ("deferred", "lost", "drained")


def move(family: Family, random: Random) -> None:
    """Somebody does something."""
    workable, undelivered = family.workable, family.undelivered
    kinds = ["work"] * 4 * bool(workable) + ["deliver"] * 2 * bool(undelivered)
    if not kinds:
        return
    if random.random() < CANCELS:
        key = random.choice(sorted(family.machines))
        active = family.machine(key).control.active
        if active is not None:
            family.do(key, CancelTurn(request_id=f"cancel {active.turn_id}", turn_id=active.turn_id))
    elif random.choice(kinds) == "deliver":
        family.deliver(random.choice(undelivered))
    else:
        calls, dies = random.choice([0, 1, 1, 1, 2, 3]), random.random() < DIES
        family.work(random.choice(workable), calls, random.random() < SPAWNS, random.random() < DETACHED, dies)


def come_to_rest(family: Family) -> None:
    """Rows are delivered, workers live, and people give nothing more."""
    doomed = family.forsaken
    for _ in range(ROUNDS_MAX):
        if family.undelivered:
            family.deliver(family.undelivered[0])
        elif family.workable:
            family.work(family.workable[0], calls=0, spawns=False, detached=False, dies=False)
        elif asking := [k for k, m in family.machines.items() if m.control.active and m.control.active.interactions]:
            family.refuse(asking[0])
        else:
            break
    assert all(turn.finished for turn in family.turns.values())
    assert {family.turns[child].phase for child in doomed} <= {"cancelled"}, "a child outlived its parent"


def check(family: Family, budget: Budget | None, top: str) -> None:
    turns, below = family.turns, {top}
    for turn_id, payloads in sorted(family.payloads.items(), key=lambda item: family.depth(item[0])):
        spawned = [p for p in payloads if isinstance(p, ChildSpawned)]
        told = [p.child_turn for p in payloads if isinstance(p, ChildFinished)]
        results = [p.call_id for p in payloads if isinstance(p, ToolFinished) and p.outcome not in NO_RESULT]
        opened, waited = [p.child_turn for p in spawned], {p.child_turn for p in spawned if not p.detached}
        assert len(set(results)) == len(results), "a call has two results"
        assert len(set(opened)) == len(opened), "a task was given twice"
        assert set(opened) <= turns.keys(), "a task was lost"
        assert len(set(told)) == len(told), "an end was told twice"
        assert set(told) <= waited
        assert set(told) == waited or turns[turn_id].phase != "completed", "an end was lost"
        below |= waited if turn_id in below else set()
    if budget is not None:
        spent = sum(family.used(turn_id) for turn_id in below)
        over = len(below) * USAGE.total_tokens
        assert spent < (budget.tokens or 0) + over, "more was spent than one operation of each over the budget"


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(seed=st.integers(0, 2**32), tokens=st.sampled_from([None, 60, 100, 300]))
def test_a_family_comes_to_rest_with_each_end_told_once_and_within_its_budget(seed: int, tokens: int | None) -> None:
    family, random = Family(), Random(seed)
    budget = None if tokens is None else Budget(tokens=tokens)
    top = family.begin(budget)
    for _ in range(MOVES):
        move(family, random)
    come_to_rest(family)
    check(family, budget, top)
