"""What gives way is recorded by who has the model call, if nothing speaks against it; else nothing is."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from tests.unit.journal.agent import USAGE
from tests.unit.journal.scene import Scene, must, refused
from tests.unit.journal.thread_machine import Step
from turnwright.journal.agent_state import AgentState, Compaction
from turnwright.journal.agents import ContextPolicy
from turnwright.journal.commands import CompactContext
from turnwright.journal.context.candidate import held_back
from turnwright.journal.context.tokens import request_tokens
from turnwright.journal.entries import ContextCompacted, ContextCompactionFailed, ContextOffloaded
from turnwright.journal.messages import Message, Text, Usage


def second_turn() -> Scene:
    """The first turn looked something up at length; the second one's model call is claimed."""
    scene = Scene()
    (look,) = scene.calling("look")
    must(scene.start(look))
    must(scene.finish(look, text="seen " * 999))
    must(scene.request())
    must(scene.respond_model())
    scene.thinking()
    return scene


def compact(
    scene: Scene,
    *offloads: ContextOffloaded,
    compacted: ContextCompacted | None = None,
    failed: str = "",
    ordinal: int = 1,
    epoch: int | None = None,
) -> Step:
    held = scene.machine.control
    active = held.active
    return scene.run(
        CompactContext(
            turn_id=scene.turn,
            epoch=held.epoch if epoch is None else epoch,
            step=1 if active is None else active.step,
            ordinal=ordinal,
            offloads=offloads,
            compacted=compacted,
            failed=failed,
            usage=USAGE,
        )
    )


def why_not(step: Step) -> str:
    """What speaks against it."""
    assert refused(step) == "not_compactable"
    assert step.rejection is not None
    return step.rejection.reason


def all_of_the_first(scene: Scene) -> ContextCompacted:
    seqs = [message.seq for message in scene.machine.state.context[:-1]]
    return ContextCompacted(from_seq=seqs[0], to_seq=seqs[-1], summary="It was looked up.", usage=USAGE)


def offload(scene: Scene, stub: str = "[set aside]") -> ContextOffloaded:
    (found,) = [(r.id, m.seq) for m in scene.machine.state.context for r in m.results]
    return ContextOffloaded(call_id=found[0], result_seq=found[1], stub=stub)


def another_attempt(scene: Scene) -> int:
    """The model call is handed on; its new ordinal."""
    must(scene.interrupt_model())
    must(scene.request())
    model = scene.active.model
    assert model is not None
    return model.ordinal


def test_a_summary_takes_the_place_of_the_first_turn_and_its_cost_counts() -> None:
    scene = second_turn()
    before = scene.active.used
    must(compact(scene, compacted=all_of_the_first(scene)))
    state = scene.machine.state
    assert state.summary == "It was looked up."
    assert [message.seq for message in state.context] == [scene.machine.state.context[-1].seq]
    assert scene.active.used == before.plus(USAGE)
    must(scene.respond_model())
    assert scene.machine.state.context[-1].blocks == (Text(text="done"),)


def test_a_result_gives_way_once() -> None:
    scene = second_turn()
    given = offload(scene)
    must(compact(scene, given))
    (stub,) = [block for m in scene.machine.state.context for r in m.results for block in r.output]
    assert stub == Text(text="[set aside]")
    assert "no such long result" in why_not(compact(scene, given, ordinal=another_attempt(scene)))


@pytest.mark.parametrize("what", ["offload", "summary", "both", "failed"])
def test_what_is_said_again_because_its_answer_was_lost_is_recorded_once(what: str) -> None:
    scene = second_turn()
    offloads = (offload(scene),) if what in ("offload", "both") else ()
    summary = all_of_the_first(scene) if what in ("summary", "both") else None
    said: dict[str, Any] = {"compacted": summary, "failed": "it broke" if what == "failed" else ""}
    assert must(compact(scene, *offloads, **said)).decided
    state = scene.machine.state
    assert must(compact(scene, *offloads, **said)).entries == ()
    assert scene.machine.state == state


@pytest.mark.parametrize("who", [{"ordinal": 2}, {"epoch": 0}], ids=["another attempt", "an older run"])
def test_who_does_not_have_the_model_call_changes_nothing(who: dict[str, int]) -> None:
    scene = second_turn()
    before = scene.machine.state
    assert refused(compact(scene, offload(scene), **who)) == "no_claim"  # type: ignore[arg-type] # one of the two
    assert scene.machine.state == before


def test_after_the_answer_or_a_cancel_nothing_gives_way_any_more() -> None:
    answered, cancelled = second_turn(), second_turn()
    must(answered.respond_model())
    must(cancelled.cancel())
    for scene in (answered, cancelled):
        assert refused(compact(scene, compacted=all_of_the_first(scene))) == "no_claim"


def test_a_summary_with_a_fault_takes_the_place_of_nothing_and_why_is_recorded_once() -> None:
    scene = second_turn()
    before = scene.machine.state
    whole = all_of_the_first(scene)
    split = whole.model_copy(update={"to_seq": before.context[1].seq})
    newest = whole.model_copy(update={"to_seq": before.context[-1].seq})
    for number, (wrong, why) in enumerate(((split, "its result would stay"), (newest, "must stay")), start=1):
        step = must(compact(scene, compacted=wrong, ordinal=1 if number == 1 else another_attempt(scene)))
        (failed,) = [entry.payload for entry in step.decided]
        assert isinstance(failed, ContextCompactionFailed)
        assert why in failed.reason
        assert failed.usage == USAGE
        state = scene.machine.state
        assert (state.context, state.summary) == (before.context, before.summary)
        assert (state.compaction.failures, state.compaction.reason) == (number, failed.reason)
        assert state.compaction.failed_tokens == request_tokens(state)
    handed_on = USAGE.requests
    assert scene.machine.state.usage.total.requests == before.usage.total.requests + 2 * USAGE.requests + handed_on


def test_results_that_were_found_with_a_faulty_summary_give_way_all_the_same() -> None:
    scene = second_turn()
    must(compact(scene, offload(scene), compacted=all_of_the_first(scene).model_copy(update={"summary": " "})))
    state = scene.machine.state
    assert state.compaction.reason == "the summary is empty"
    assert [block for m in state.context for r in m.results for block in r.output] == [Text(text="[set aside]")]


def test_a_candidate_that_is_none_or_whose_results_are_short_changes_nothing_and_is_told_why() -> None:
    scene = second_turn()
    before = scene.machine.state
    assert "nothing would give way" in why_not(compact(scene))
    assert "no such long result" in why_not(compact(scene, offload(scene, "s" * 9_999)))
    assert scene.machine.state == before


def test_a_request_to_compact_is_open_until_something_gave_way_or_nothing_could() -> None:
    scene = second_turn()
    step = must(scene.compact())
    assert scene.machine.state.compaction == Compaction(requested_seq=step.decided[0].seq)
    assert refused(scene.compact()) == "already_requested"
    must(compact(scene, failed="nothing gives way"))
    assert scene.machine.state.compaction.reason == "nothing gives way"
    for summary in (all_of_the_first(scene), None):
        other = second_turn()
        must(other.compact())
        must(compact(other, *(() if summary else (offload(other),)), compacted=summary))
        assert other.machine.state.compaction == Compaction()


def test_a_conversation_that_was_replaced_or_began_anew_owes_no_compaction() -> None:
    changes: tuple[Callable[[Scene], Step], ...] = (lambda s: s.clear(), lambda s: s.update(context=[]))
    for change in changes:
        scene = second_turn()
        must(compact(scene, failed="it broke"))
        must(scene.respond_model())
        must(scene.compact())
        must(change(scene))
        assert scene.machine.state.compaction == Compaction()


def test_a_thread_no_model_was_asked_on_has_nothing_to_compact() -> None:
    scene = Scene()
    must(scene.submit())
    assert refused(scene.compact()) == "nothing_to_compact"


def test_after_a_failure_a_summary_waits_for_a_longer_request_each_time_twice_as_long() -> None:
    policy = ContextPolicy(window_tokens=1_000)
    said = Message(role="assistant", usage=Usage(input_tokens=800))

    def held(tokens: int, failures: int) -> bool:
        counted = said.model_copy(update={"usage": Usage(input_tokens=tokens)})
        state = AgentState(context=(counted,), compaction=Compaction(failures=failures, failed_tokens=800))
        return held_back(state, policy)

    assert [held(819, 1), held(820, 1), held(839, 2), held(840, 2)] == [True, False, True, False]
    assert not held(800, 0)
    assert not held_back(AgentState(compaction=Compaction(failures=1)), ContextPolicy())
