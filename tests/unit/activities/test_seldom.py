"""What is said seldom."""

from turnwright.activities.runtime import seldom
from turnwright.activities.runtime.seldom import Seldom


def test_a_thing_is_said_at_once_and_again_after_the_interval() -> None:
    now_s = 0.0
    said = Seldom(60, clock=lambda: now_s)
    assert said.is_due("waits", "t1")
    now_s = 59.0
    assert not said.is_due("waits", "t1")
    assert said.is_due("waits", "t2"), "another turn's is another thing"
    now_s = 60.0
    assert said.is_due("waits", "t1")
    now_s = 61.0
    assert not said.is_due("waits", "t1")


def test_what_was_said_longest_ago_is_forgotten_and_memory_is_bounded() -> None:
    said = Seldom(60, clock=lambda: 0.0)
    for n in range(seldom.THINGS_REMEMBERED_MAX + 1):
        assert said.is_due(str(n))
    assert said.is_due("0")
    assert not said.is_due(str(seldom.THINGS_REMEMBERED_MAX))
