"""What is counted of what was committed."""

from __future__ import annotations

import pytest

from turnwright.client.metrics.labels import Bounded
from turnwright.client.metrics.meters import CODES_MAX, Meters
from turnwright.journal.control import ThreadControl
from turnwright.journal.entries import (
    ContextCompactionFailed,
    Draft,
    InteractionExpired,
    InteractionRequested,
    InteractionResolved,
    ModelFailed,
    ModelInterrupted,
    ModelLate,
    ModelResponded,
    Payload,
    RunClaimed,
    ToolFinished,
    ToolLate,
    ToolStarted,
    TurnCancelled,
    TurnFailed,
    TurnQueued,
    TurnStarted,
    UsageCounted,
)
from turnwright.journal.ids import ThreadKey
from turnwright.journal.messages import Usage, user
from turnwright.journal.transact.appending import Appended
from turnwright.journal.turn_status import TurnStatus

AT_US = 10_000_000
TURN = TurnStatus(turn_id="t", request_id="r", queued_at_us=3_000_000, started_at_us=8_000_000)
USED = Usage(input_tokens=7, output_tokens=5, cost_microusd=2_000_000)


def counted(*payloads: Payload) -> Meters:
    """Meters that have seen these, committed together."""
    meters = Meters()
    count(meters, *payloads)
    return meters


def count(meters: Meters, *payloads: Payload) -> None:
    key = ThreadKey("acme", None, "bot", "s")
    entries = tuple(Draft(f"e{n}", payload, turn_id="t").at(n, AT_US) for n, payload in enumerate(payloads, start=1))
    meters.committed([Appended(key, entries, ThreadControl(), {"t": TURN}), "of no interest"], 0.25)
    meters.standing()()


def counters(meters: Meters) -> dict[tuple[str, ...], float]:
    """Counters and counts of histograms, by name and labels."""
    return {
        (sample.name, *sample.labels.values()): sample.value
        for family in meters.registry.collect()
        for sample in family.samples
        if family.name.startswith("turnwright_") and sample.name.endswith(("_total", "_count"))
    }


@pytest.mark.parametrize(
    ("payload", "name", "labels", "value"),
    [
        (TurnStarted(revision=2, queued_seq=1, session_seq=0), "turn_queue_seconds_sum", {"agent": "bot"}, 7),
        (TurnCancelled(revision=2), "turn_seconds_sum", {"agent": "bot", "phase": "cancelled"}, 2),
        (
            TurnFailed(code="max_steps", message="too many", revision=2),
            "turns_ended_total", {"agent": "bot", "phase": "failed", "code": "max_steps"}, 1,
        ),
        (
            ModelResponded(ordinal=1, blocks=(), usage=USED, model="m", duration_ms=1_500),
            "model_seconds_sum", {"model": "m"}, 1.5,
        ),
        (
            ModelResponded(ordinal=1, blocks=(), usage=USED, model="m"),
            "model_tokens_total", {"model": "m", "kind": "output"}, 5,
        ),
        (ModelResponded(ordinal=1, blocks=(), usage=USED, model="m"), "model_cost_usd_total", {"model": "m"}, 2),
        (ModelFailed(ordinal=1, failure="cut", message="gone"), "model_failures_total", {"failure": "cut"}, 1),
        (ModelInterrupted(ordinal=1, reason="lost"), "model_interruptions_total", {"reason": "lost"}, 1),
        (
            ModelLate(ordinal=1, what="responded", usage=USED),
            "model_tokens_total", {"model": "other", "kind": "input"}, 7,
        ),
        (ModelInterrupted(ordinal=1, reason="lost"), "takeovers_total", {"operation": "model"}, 1),
        (ModelInterrupted(ordinal=1, reason="drained"), "takeovers_total", {"operation": "model"}, 0),
        (
            ToolFinished(call_id="c", name="pay", ordinal=1, outcome="lost"),
            "takeovers_total", {"operation": "tool"}, 1,
        ),
        (ModelLate(ordinal=1, what="responded"), "late_results_total", {"kind": "model"}, 1),
        (ToolLate(call_id="c", name="add", ordinal=1, outcome="success"), "late_results_total", {"kind": "tool"}, 1),
        (
            ContextCompactionFailed(reason="no words", usage=USED),
            "model_tokens_total", {"model": "other", "kind": "output"}, 5,
        ),
        (UsageCounted(usage=USED), "model_cost_usd_total", {"model": "other"}, 2),
        (
            ToolFinished(call_id="c", name="add", ordinal=1, outcome="lost", duration_ms=500),
            "tool_seconds_sum", {"tool": "add", "outcome": "lost"}, 0.5,
        ),
        (
            ToolFinished(call_id="c", name="pay", ordinal=1, outcome="interrupted", effect_unknown=True),
            "unknown_effects_total", {"tool": "pay"}, 1,
        ),
        (InteractionRequested(interaction_id="i", kind="form"), "questions_asked_total", {"kind": "form"}, 1),
        (
            InteractionResolved(interaction_id="i", resolution="approved"),
            "questions_settled_total", {"how": "answered"}, 1,
        ),
        (
            InteractionResolved(interaction_id="i", resolution="cancelled"),
            "questions_settled_total", {"how": "cancelled"}, 1,
        ),
        (
            InteractionExpired(interaction_id="i", resolution="expired"),
            "questions_settled_total", {"how": "expired"}, 1,
        ),
    ],
)  # fmt: skip
def test_what_was_committed_is_counted_once(payload: Payload, name: str, labels: dict[str, str], value: float) -> None:
    registry = counted(payload).registry
    assert registry.get_sample_value(f"turnwright_{name}", labels) == value
    assert registry.get_sample_value("turnwright_entries_total", {"type": payload.TYPE}) == 1
    assert registry.get_sample_value("turnwright_commit_seconds_sum") == 0.25


@pytest.mark.parametrize(
    "payload",
    [
        ModelFailed(ordinal=1, failure="auth", message="no"),
        ModelInterrupted(ordinal=1, reason="lost", usage=USED),
        ModelLate(ordinal=1, what="failed"),
        ToolLate(call_id="c", name="add", ordinal=1, outcome="success"),
        InteractionRequested(interaction_id="i", kind="unknown_outcome"),
        InteractionExpired(interaction_id="i", resolution="expired"),
        TurnStarted(revision=2, queued_seq=1, session_seq=0),
        TurnCancelled(revision=2),
        TurnFailed(code="model_error", message="no", revision=2),
        RunClaimed(start_epoch=0, temporal_run_id="r"),
    ],
)
def test_the_first_of_its_kind_is_a_rise_from_a_zero_that_was_shown_before(payload: Payload) -> None:
    meters = Meters()
    meters.know(agents=["bot"])
    before = counters(meters)
    meters.standing()()
    count(meters, payload)
    risen = {name for name, value in counters(meters).items() if value != before.get(name)}
    assert ("turnwright_entries_total", payload.TYPE) in risen
    assert len(risen) >= 3, "it is counted beside its entry and its commit"
    assert [name for name in risen if before.get(name) != 0] == []


def test_an_agent_stands_at_zero_from_its_first_turn_on_and_a_tool_from_its_first_call() -> None:
    meters = counted(
        TurnQueued(request_id="r", input=user("hello")),
        ToolStarted(call_id="c", name="pay", ordinal=1, nonce="n", presence="p", key="k"),
    )
    found = counters(meters)
    assert found["turnwright_turns_ended_total", "bot", "failed", "max_steps"] == 0
    assert found["turnwright_tool_calls_total", "pay", "lost"] == 0
    count(meters, ToolFinished(call_id="c", name="pay", ordinal=1, outcome="lost", effect_unknown=True))
    found = counters(meters)
    assert found["turnwright_tool_calls_total", "pay", "lost"] == 1
    assert found["turnwright_unknown_effects_total", "pay"] == 1


def test_a_provider_that_tells_of_less_than_nothing_breaks_no_page() -> None:
    answered = ModelResponded(ordinal=1, model="m", blocks=(), usage=Usage(input_tokens=-7, cost_microusd=-1))
    found = counters(counted(answered, ModelLate(ordinal=1, what="responded")))
    assert found["turnwright_model_tokens_total", "m", "input"] == 0
    assert found["turnwright_late_results_total", "model"] == 1


def test_a_code_that_stands_at_zero_is_counted_as_itself_however_many_others_came_before() -> None:
    codes = [*(f"tool_{n}" for n in range(CODES_MAX)), "internal"]
    meters = counted(*(TurnFailed(code=code, message="no", revision=2) for code in codes))
    assert counters(meters)["turnwright_turns_ended_total", "bot", "failed", "internal"] == 1


@pytest.mark.parametrize(
    ("ended", "part"),
    [
        (ModelResponded(ordinal=1, blocks=()), "model"),
        (ModelFailed(ordinal=1, failure="cut", message="gone"), "model"),
        (ToolFinished(call_id="c", name="add", ordinal=1, outcome="success"), "tools"),
    ],
)
def test_the_parts_of_a_step_are_timed_by_what_ended_them(ended: Payload, part: str) -> None:
    meters = Meters()
    entry = Draft("e", ended, turn_id="t").at(1, AT_US)
    key = ThreadKey("acme", None, "bot", "s")
    meters.committed([Appended(key, (entry,), ThreadControl(), {}, worked_us=1_500_000)], 0)
    meters.standing()()
    assert meters.registry.get_sample_value("turnwright_step_seconds_sum", {"part": part}) == 1.5


def test_how_late_followers_are_is_shown() -> None:
    meters = Meters()
    meters.streamed("deltas", 0.25)
    meters.standing()()
    assert meters.registry.get_sample_value("turnwright_stream_seconds_sum", {"what": "deltas"}) == 0.25
    assert meters.registry.get_sample_value("turnwright_stream_seconds_count", {"what": "entries"}) == 0


def test_a_label_has_a_bounded_number_of_values_and_those_that_came_first_stay_themselves() -> None:
    label = Bounded(2)
    assert [label(value) for value in ("a", "b", "c", "a", "", "d", "b")] == [
        "a", "b", "other", "a", "other", "other", "b",
    ]  # fmt: skip
