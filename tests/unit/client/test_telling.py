"""An entry in a few words."""

import pytest

from turnwright.client.cli.telling import CHARACTERS_MAX, tell
from turnwright.journal.budgets import Budget
from turnwright.journal.entries import (
    BudgetChanged,
    Entry,
    EntryErased,
    InputApplied,
    InteractionExpired,
    InteractionRequested,
    ModelFailed,
    ModelRequested,
    ModelResponded,
    Payload,
    PermissionsChanged,
    ToolFinished,
    ToolStarted,
    TurnCancelled,
    TurnPaused,
    TurnQueued,
)
from turnwright.journal.messages import Media, Text, Thinking, ToolCall, user
from turnwright.journal.state_parts import PermissionState, Rule


def told(payload: Payload, step: int | None = None) -> str:
    """Without the time."""
    return tell(Entry("id", payload, step=step, seq=1, at_us=1)).split("  ", 1)[1]


@pytest.mark.parametrize(
    ("payload", "step", "words"),
    [
        (TurnQueued(request_id="r", input=user("find\na  train"), principal="ann"), None, "find a train  [ann]"),
        (TurnPaused(revision=2, principal="ann", reason="lunch"), None, "  [ann: lunch]"),
        (TurnPaused(revision=2), 3, "turn.paused"),
        (InputApplied(through_seq=4), 1, "input.applied"),
        (ModelRequested(ordinal=2, nonce="n", presence="w-1", view_seq=3), 4, "step 4 attempt 2 on w-1"),
        (ModelFailed(ordinal=1, failure="cut", message="gone"), 4, "step 4 attempt 1: cut: gone"),
        (TurnCancelled(source="thread", revision=3, principal="bob"), None, "with everything on its thread  [bob]"),
        (
            ModelResponded(
                ordinal=1,
                blocks=(Thinking(text="hm"), Text(text="I look."), ToolCall(id="c", name="look", arguments={"é": 1})),
            ),
            1,
            'step 1 [thinking] I look. look({"é": 1})',
        ),
        (
            InteractionRequested(interaction_id="q", kind="approval", asked={"tool": "pay", "arguments": {"n": 1}}),
            2,
            'approval q pay({"n": 1})',
        ),
        (InteractionRequested(interaction_id="q", kind="form", asked={"tool": "a", "prompt": "why?"}), 2, "q a: why?"),
        (InteractionRequested(interaction_id="q", kind="budget", asked={"scope": "thread"}), 2, "budget q thread"),
        (InteractionExpired(interaction_id="q", resolution="expired"), 2, "q: expired"),
        (BudgetChanged(scope="turns", budget=Budget(steps=3), principal="ann"), None, "turns to come: 3 steps  [ann]"),
        (PermissionsChanged(permissions=PermissionState(mode="explore", deny=(Rule(tool="x"),))), None, ": 1 deny"),
        (ToolStarted(call_id="c", name="put", ordinal=2, key="k", nonce="n", presence="w"), 2, "put c attempt 2 on w"),
        (EntryErased(erased_seq=4, principal="ann", reason="asked"), None, "entry 4  [ann: asked]"),
        (
            ToolFinished(
                call_id="c", name="put", ordinal=1, outcome="interrupted", duration_ms=1500, effect_unknown=True,
                output=(Text(text="half"), Media(mime="image/png", url="u")),
            ),
            2,
            "step 2 put c interrupted after 1.5 s, whether it had its effect is unknown: half [media]",
        ),
    ],
)  # fmt: skip
def test_the_heart_of_an_entry_is_told_on_one_line(payload: Payload, step: int | None, words: str) -> None:
    line = told(payload, step)
    assert line.startswith(payload.TYPE)
    assert line.endswith(words), line


def test_a_long_text_is_cut() -> None:
    line = told(TurnQueued(request_id="r", input=user("x" * 10_000)))
    assert line.endswith("x…")
    assert len(line) < CHARACTERS_MAX + 40
