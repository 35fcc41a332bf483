"""What a reconcile hook finds out about a call of unknown outcome."""

import asyncio
import contextlib
from typing import Any

import pytest

from tests.unit.activities.calling import HOST, call, context
from turnwright.activities.reconcile import Reconciled
from turnwright.activities.tool_context import ToolContext
from turnwright.activities.tool_host import Reconciliation
from turnwright.activities.tools import tool
from turnwright.journal.messages import Text


@tool
async def add(a: int) -> int:
    """Add."""
    return a


async def found(answer: object) -> Reconciliation:
    async def hook(ctx: ToolContext, arguments: dict[str, Any]) -> Reconciled:
        assert arguments == {"amount": 5}
        assert ctx.idempotency_key == "turn/c"
        if isinstance(answer, BaseException):
            raise answer
        return answer  # type: ignore[return-value]

    @tool(reconcile=hook, timeout_s=0.2)
    def pay(amount: int) -> str:
        """Pay."""
        return f"paid {amount}"

    return await HOST.reconcile(pay, call(pay, amount=5), context())


async def test_a_hook_settles_a_call_of_unknown_outcome() -> None:
    assert await found(Reconciled.succeeded({"paid": 5})) == Reconciliation("succeeded", (Text(text='{"paid":5}'),))
    assert await found(Reconciled.failed("refused")) == Reconciliation("failed", (Text(text="refused"),))
    assert await found(Reconciled.run_again()) == Reconciliation("run_again")
    assert await found(Reconciled.unknown()) == Reconciliation("unknown")


async def test_a_hook_that_fails_or_answers_nonsense_has_found_out_nothing() -> None:
    assert (await found(ConnectionError("down"))).status == "unknown"
    assert (await found("paid")).status == "unknown"
    assert (await HOST.reconcile(add, call(add), context())).status == "unknown"


class Odd(BaseException):
    """Derives from what nobody catches."""


@pytest.mark.parametrize("error", [SystemExit(3), asyncio.CancelledError(), Odd()])
async def test_a_hook_that_raises_what_would_end_the_worker_has_found_out_nothing(error: BaseException) -> None:
    assert (await found(error)).status == "unknown"


async def test_a_finding_of_an_unknown_kind_is_none_and_a_message_becomes_text() -> None:
    assert (await found(Reconciled("paid"))).status == "unknown"  # type: ignore[arg-type]
    assert await found(Reconciled.failed(404)) == Reconciliation("failed", (Text(text="404"),))  # type: ignore[arg-type]


async def test_a_hook_that_hangs_has_found_out_nothing() -> None:
    over = asyncio.Event()

    async def hook(ctx: ToolContext, arguments: dict[str, Any]) -> Reconciled:
        with contextlib.suppress(asyncio.CancelledError):
            await over.wait()
        await over.wait()
        return Reconciled.run_again()

    @tool(reconcile=hook, timeout_s=0.01)
    def pay() -> None:
        """Pay."""

    assert (await HOST.reconcile(pay, call(pay), context())).status == "unknown"
    over.set()
