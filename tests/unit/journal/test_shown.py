"""The word shown for a turn, as a table: phase, which flags are set, whether an operation of it runs."""

from itertools import product

import pytest

from turnwright.journal.control import ActiveTurn, Claim, ModelOperation, PauseFlag, SessionControl, ThreadControl
from turnwright.journal.shown import PHASES, SHOWN, phases_shown_as, shown_status
from turnwright.journal.turn_status import FINISHED, Pause, Phase, TurnStatus

CLAIM = Claim(nonce="n", presence="w", epoch=1, at_us=0)
LEVELS = ("turn", "thread", "session")


def shown(phase: Phase, flag: str = "", *, busy: bool = False, active: bool = True) -> str:
    pause: Pause = ("requested" if busy else "effective") if flag == "turn" else "none"
    status = TurnStatus(turn_id="t-1", request_id="r", phase=phase, pause=pause)
    model = ModelOperation(step=1, ordinal=1, claim=CLAIM if busy else None)
    thread = ThreadControl(
        active=ActiveTurn(status=status, model=model) if active else None, pause=PauseFlag(on=flag == "thread")
    )
    return shown_status(thread, SessionControl(pause=PauseFlag(on=flag == "session")), status)


@pytest.mark.parametrize("phase", PHASES)
def test_without_a_flag_the_phase_is_shown(phase: Phase) -> None:
    assert shown(phase) == shown(phase, busy=True) == phase


@pytest.mark.parametrize(("phase", "flag"), [*product([*sorted(FINISHED), "cancelling"], LEVELS)])
def test_an_end_and_a_cancel_come_before_every_flag(phase: Phase, flag: str) -> None:
    assert shown(phase, flag) == shown(phase, flag, busy=True) == phase


@pytest.mark.parametrize(("phase", "flag"), [*product(["queued", "running", "waiting"], LEVELS)])
def test_a_flag_of_any_level_pauses_once_nothing_of_the_turn_runs(phase: Phase, flag: str) -> None:
    assert shown(phase, flag) == "paused"
    assert shown(phase, flag, active=False) == "paused"
    assert shown(phase, flag, busy=True) == "pausing"


def test_what_another_turn_runs_does_not_keep_a_turn_from_being_paused() -> None:
    mine = TurnStatus(turn_id="t-2", request_id="r")
    head = TurnStatus(turn_id="t-1", request_id="r", phase="running")
    model = ModelOperation(step=1, ordinal=1, claim=CLAIM)
    thread = ThreadControl(active=ActiveTurn(status=head, model=model), pause=PauseFlag(on=True))
    assert shown_status(thread, SessionControl(), mine) == "paused"
    assert shown_status(thread, SessionControl(), head) == "pausing"


def test_every_word_is_shown_for_some_phase_and_for_those_it_names() -> None:
    seen: dict[str, set[Phase]] = {word: set() for word in SHOWN}
    for phase, flag, busy in product(PHASES, ("", *LEVELS), (False, True)):
        seen[shown(phase, flag, busy=busy)].add(phase)
    assert {word: set(phases_shown_as(word)) for word in SHOWN} == seen
