"""Turns that ask people something, made as workers make them."""

from tests.integration.journal.conftest import KEY, SESSION, Played
from turnwright.journal.agents import AgentDefinition
from turnwright.journal.budgets import Budget
from turnwright.journal.commands import CallSpec, ClaimRun, CreateSession, Look, SetSessionBudget
from turnwright.journal.ids import ThreadKey
from turnwright.journal.messages import ToolCall, Usage

ASKS = AgentDefinition(name="agent", model="scripted:x")


async def asking(played: Played, text: str, key: ThreadKey = KEY, tool: str = "write") -> tuple[str, str]:
    """A turn that asks whether a call may run; the turn and the question."""
    turn = await played.submit(text, key)
    claim = ClaimRun(turn_id=turn, run=f"run of {turn}", start_epoch=0, definition=ASKS)
    epoch = (await played.run(key, claim)).control.epoch
    await played.ask(turn, epoch, key)
    call = ToolCall(id="c", name=tool, arguments={"text": text})
    outcome = await played.answer(turn, epoch, call, key=key, tools={tool: CallSpec()})
    active = outcome.control.active
    assert active is not None
    [question] = active.interactions
    return turn, question.interaction_id


async def budget(played: Played, request_id: str, **bounds: int) -> None:
    """Say what the session may use; it is made if need be."""
    await played.journal.execute(SESSION, CreateSession(request_id="create"))
    await played.execute(SESSION, SetSessionBudget(request_id=request_id, budget=Budget.model_validate(bounds)))


async def spend(played: Played, turn: str, epoch: int, key: ThreadKey, tokens: int) -> None:
    """A first step that uses so many tokens and calls a tool that runs unasked, which is to be called next."""
    await played.ask(turn, epoch, key)
    call = ToolCall(id="c", name="no such tool", arguments={})
    usage = Usage(requests=1, input_tokens=tokens)
    await played.answer(turn, epoch, call, key=key, usage=usage)


async def look(played: Played, turn: str, epoch: int, key: ThreadKey = KEY) -> list[str]:
    """The newest run looks; the types of what became due."""
    outcome = await played.run(key, Look(turn_id=turn, epoch=epoch))
    return [entry.type for entry in outcome.entries]
