"""The types of the blocking client are those of the async one."""

import ast
from typing import assert_type

from tests.unit.client.blocking_stub import STUB, written
from turnwright.client import TurnView
from turnwright.client.blocking import BlockingClient, BlockingTurn


def test_the_stub_says_what_the_async_client_says() -> None:
    """`python -m tests.unit.client.blocking_stub` writes it anew."""
    committed = ast.unparse(ast.parse(STUB.read_text(encoding="utf-8")))
    made = ast.unparse(ast.parse(written()))
    assert sorted(committed.splitlines()) == sorted(made.splitlines())


def types(client: BlockingClient) -> None:
    """For the type checker."""
    turn = client.session(None, "s").submit("hello", agent="a")
    assert_type(turn, BlockingTurn)
    assert_type(turn.wait(), TurnView)
