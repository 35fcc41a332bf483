"""What gives way is recorded by who has the model call, if nothing speaks against it; else nothing is."""

from __future__ import annotations

import pytest

from tests.unit.journal.agent import USAGE
from tests.unit.journal.scene import Scene, must, refused
from tests.unit.journal.thread_machine import Step
from turnwright.journal.commands import CompactContext
from turnwright.journal.entries import ContextCompacted, ContextOffloaded
from turnwright.journal.messages import Text


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
    assert "no such long result" in why_not(compact(scene, given))


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


def test_a_candidate_with_faults_changes_nothing_and_is_told_them() -> None:
    scene = second_turn()
    before = scene.machine.state
    whole = all_of_the_first(scene)
    split = whole.model_copy(update={"to_seq": before.context[1].seq})
    newest = whole.model_copy(update={"to_seq": before.context[-1].seq})
    for wrong, why in ((split, "its result would stay"), (newest, "must stay"), (None, "nothing would give way")):
        assert why in why_not(compact(scene, compacted=wrong))
    assert "no such long result" in why_not(compact(scene, offload(scene, "s" * 9_999)))
    assert scene.machine.state == before
