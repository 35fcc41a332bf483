"""Which tests stay together when several processes share them.

Rule: what comes together in the order of the tests and is of one file is one piece, for the servers that a file
starts. A test of `APART` starts processes of its own, takes many seconds, and is a piece by itself, so that no process
is left alone with a long file while the others have nothing to do.
All of `TOGETHER` is one piece: it shares a browser.
"""

from functools import cached_property

from xdist.scheduler.loadscope import LoadScopeScheduling

APART = ("tests/e2e/test_", "tests/faults/")
TOGETHER = "tests/e2e/console/"


class Pieces(LoadScopeScheduling):
    """Gives the processes one piece after the other, in the order of the tests."""

    @cached_property
    def _pieces(self) -> dict[str, str]:
        assert self.collection is not None, "asked only once the tests are known"
        found, number, before = dict[str, str](), 0, ""
        for test in self.collection:
            piece = _piece_of(test)
            number += piece != before
            found[test], before = f"{number} {piece}", piece
        return found

    def _split_scope(self, nodeid: str) -> str:
        return self._pieces[nodeid]


def _piece_of(test: str) -> str:
    if test.startswith(APART):
        return test
    return TOGETHER if test.startswith(TOGETHER) else test.partition("::")[0]
