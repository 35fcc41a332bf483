"""`python -m examples.order_change`: a cancel is asked for, the customer refuses, and the model is told right.

Everything is real but the model's words: Temporal, a worker process, HTTP to a provider that keeps what it was sent.
At the end the program checks what it promises, and ends with an error if it does not hold.
"""

from __future__ import annotations

import asyncio
import os
import sys
import tempfile
from pathlib import Path

from examples.order_change.agents import FOLDER_VARIABLE, MODEL_VARIABLE
from examples.order_change.provider import Provider, calling, saying
from turnwright.client import Client, Turn
from turnwright.journal.agent_state import AgentState
from turnwright.worker.child import Child
from turnwright.worker.temporal_server import TemporalServer

AGENTS = "examples.order_change.agents:registry"
ROOT = Path(__file__).resolve().parents[2]
TIMEOUT_S = 60
ASKED = "If the watch I bought is not sent yet, please cancel it. I do not want it any more."
SCRIPT = (
    calling("An order is to change, so the manual first.", "One moment.", "load_manual", topic="order change"),
    calling("Now the orders.", "", "list_orders", limit=5),
    calling("88235 is paid and not sent.", "I cancel order 88235.", "cancel_order", order="88235"),
    saying("They chose not to.", "Order 88235 was not cancelled: you chose not to. It is still paid and not sent."),
)


async def main() -> None:
    """Run the story in a folder of its own."""
    with tempfile.TemporaryDirectory(prefix="order-change-") as folder, Provider(*SCRIPT) as provider:
        await _story(Path(folder), provider)


async def _story(folder: Path, provider: Provider) -> None:
    journal_url = f"sqlite:///{folder / 'journal.db'}"
    async with (
        TemporalServer(folder / "temporal.db", log_file=folder / "temporal.log") as temporal,
        Client.connect(journal_url=journal_url, temporal_address=temporal.address, migrate=True) as client,
    ):
        worker = _worker(folder, journal_url, temporal.address, provider.base_url)
        try:
            session = client.session("ann", "chat-1")
            await session.create()
            thread = session.thread("help-desk")
            turn = await thread.submit(ASKED)
            await _refuse(turn)
            print("answer:", (await turn.result(TIMEOUT_S)).text)
            _check(provider, await thread.state(), folder)
        finally:
            await worker.stop(TIMEOUT_S)


async def _refuse(turn: Turn) -> None:
    """Wait for the question and answer it; which turn, which question and what was decided is all there is to say."""
    view = await turn.wait(TIMEOUT_S, until=["waiting"])
    [question] = view.questions
    answer = {"turn": turn.id, "interaction_id": question.interaction_id, "resolution": "deny"}
    await turn.respond(answer["interaction_id"], answer["resolution"])
    print("answered with:", ", ".join(answer))


def _check(provider: Provider, state: AgentState, folder: Path) -> None:
    """What was promised."""
    _, _, before, after = provider.requests
    assert after["messages"][: len(before["messages"])] == before["messages"], "what was said is sent as it was"
    call, result = after["messages"][len(before["messages"]) :]
    assert [c["function"]["name"] for c in call["tool_calls"]] == ["cancel_order"]
    assert result["role"] == "tool"
    assert result["tool_call_id"] == call["tool_calls"][0]["id"]
    assert "decided not to run this call" in result["content"]
    assert "not a missing permission" in result["content"]
    assert "88235, paid, not sent" in str(after["messages"]), "the orders are still known"
    assert "the stock is put back" in str(after["messages"]), "and so is the manual"
    roles = [message.role for message in state.context]
    assert roles == ["user", *["assistant", "tool"] * 3, "assistant"], roles
    assert [r.outcome for m in state.context for r in m.results] == ["success", "success", "denied"]
    assert not state.pending_calls
    assert not (folder / "cancelled").exists(), "nothing was cancelled"
    print(f"the state has {len(roles)} messages; the provider was asked {len(provider.requests)} times")


def _worker(folder: Path, journal_url: str, temporal: str, model_url: str) -> Child:
    environment = {k: v for k, v in os.environ.items() if not k.startswith(("TURNWRIGHT_", "TEMPORAL_"))} | {
        "PYTHONPATH": os.pathsep.join(filter(None, (str(ROOT), os.environ.get("PYTHONPATH")))),
        "TURNWRIGHT_JOURNAL_URL": journal_url,
        "TURNWRIGHT_TEMPORAL_ADDRESS": temporal,
        FOLDER_VARIABLE: str(folder),
        MODEL_VARIABLE: model_url,
    }
    command = [sys.executable, "-m", "turnwright.worker.main", "worker", "--agents", AGENTS]
    return Child(command, env=environment, log_file=folder / "worker.log")


if __name__ == "__main__":
    asyncio.run(main())
