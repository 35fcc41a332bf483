"""The agent of a shop's help desk: `turnwright worker --agents examples.order_change.agents:registry`.

Nothing here says that cancelling asks first. It does because the call changes something and no rule allows it.
"""

from __future__ import annotations

import os
from pathlib import Path

from turnwright.activities import Agent, Registry, ToolContext, tool

FOLDER_VARIABLE = "ORDER_CHANGE_FOLDER"
MODEL_VARIABLE = "ORDER_CHANGE_MODEL_URL"
MANUALS = {
    "order change": "1. Find the order. 2. Only an order that is not sent yet can be cancelled. 3. Before that say "
    "what happens with it: the stock is put back, a coupon that was used is returned, what was paid is refunded."
}
ORDERS = (
    "88240, paid, not sent: 1 USB cable, 19.00",
    "88235, paid, not sent: 1 watch, 1 strap, 3378.00, coupon used",
)


@tool(effect="read")
def load_manual(topic: str) -> str:
    """Load a manual of the help desk.

    Args:
        topic: what it is about
    """
    return MANUALS[topic]


@tool(effect="read")
def list_orders(limit: int) -> list[str]:
    """List the customer's latest orders.

    Args:
        limit: how many
    """
    return list(ORDERS[:limit])


@tool
def cancel_order(ctx: ToolContext, order: str) -> str:
    """Cancel an order: stock, coupon and payment go back.

    Args:
        ctx: what is known about this call; the model does not see it
        order: the number of the order
    """
    with (Path(os.environ[FOLDER_VARIABLE]) / "cancelled").open("a", encoding="utf-8") as file:
        file.write(f"{order} {ctx.idempotency_key}\n")
    return f"order {order} is cancelled"


desk = Agent(
    "help-desk",
    "script",
    base_url=os.environ.get(MODEL_VARIABLE, "http://127.0.0.1:9/v1"),
    instructions="You help customers of a shop. Load the manual before you change an order.",
    tools=[load_manual, list_orders, cancel_order],
)
registry = Registry([desk])
