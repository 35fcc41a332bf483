"""What a reconcile hook finds out about a call of unknown outcome."""

import asyncio
from typing import Any

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
        if isinstance(answer, Exception):
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


async def test_a_hook_that_hangs_has_found_out_nothing() -> None:
    async def hook(ctx: ToolContext, arguments: dict[str, Any]) -> Reconciled:
        await asyncio.Event().wait()
        return Reconciled.run_again()

    @tool(reconcile=hook, timeout_s=0.01)
    def pay() -> None:
        """Pay."""

    assert (await HOST.reconcile(pay, call(pay), context())).status == "unknown"
