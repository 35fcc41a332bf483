"""The demonstration's results: a promise nobody saw kept is broken, for people and for programs."""

import json

from examples.demo.board import Board


def test_a_promise_that_was_not_looked_at_is_broken() -> None:
    board = Board()
    assert not board.kept, "without any promise nothing is proven"
    board.saw("kill", "it goes on", "it went on", ok=True)
    assert board.kept
    board.give_up("kill", ("it goes on", "once each"), "the scene broke")
    assert not board.kept
    assert [(row.promised, row.ok) for row in board.rows] == [("it goes on", True), ("once each", False)]


def test_a_program_reads_what_a_person_does() -> None:
    board = Board()
    board.saw("kill", "each “once” effect is there once", "once", ok=True)
    [line] = board.json_lines()
    assert json.loads(line) == {
        "scene": "kill",
        "promised": "each “once” effect is there once",
        "seen": "once",
        "ok": True,
    }
