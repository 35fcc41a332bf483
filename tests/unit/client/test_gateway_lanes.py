"""Whose turn it is where several want to deliver to one host."""

from __future__ import annotations

from itertools import islice, product

from turnwright.client.gateway.lanes import Lanes

AT_ONCE = 2
NAMES = "abcde"


def asked(lanes: Lanes, host: str = "h", names: str = NAMES) -> str:
    """Who of them begins when all are asked in order."""
    begun = "".join(name for name in names if lanes.take(host, name))
    lanes.go_round()
    return begun


def test_a_host_has_so_many_lanes_and_another_host_its_own() -> None:
    lanes = Lanes(AT_ONCE)
    assert asked(lanes) == "ab"
    assert asked(lanes) == ""
    assert asked(lanes, "other") == "ab"
    lanes.leave("h")
    assert asked(lanes, names="cde") == "c"


def test_those_who_want_again_and_again_keep_nobody_from_having_a_turn() -> None:
    lanes = Lanes(AT_ONCE)
    came, running = "", asked(lanes)
    for _ in range(2 * len(NAMES)):
        came += running
        lanes.leave("h")
        running = asked(lanes, names=NAMES) or asked(lanes, names=NAMES)
    assert all(came.count(name) >= 2 for name in NAMES), came


def test_who_has_had_a_turn_is_asked_anew_at_once_when_nobody_is_behind() -> None:
    lanes = Lanes(AT_ONCE)
    assert lanes.take("h", "b")
    lanes.leave("h")
    assert not lanes.take("h", "a")
    assert lanes.go_round()
    assert lanes.take("h", "a")
    assert not lanes.go_round()


def test_a_host_is_crowded_while_somebody_waits_there() -> None:
    lanes = Lanes(AT_ONCE)
    for host, name in islice(product("gh", NAMES), len(NAMES) + AT_ONCE):
        lanes.take(host, name)
    for _ in range(2):
        assert (lanes.is_crowded("g"), lanes.is_crowded("h")) == (True, False)
        lanes.go_round()
    assert not lanes.is_crowded("g")
