"""What a model call will probably use, reserved of its session's budget while it runs.

Rule: a guess that costs nothing. It only keeps threads of one session from all starting a call on the last of its
budget; what is counted in the end is what the provider says.
"""

from __future__ import annotations

from turnwright.journal.agent_state import AgentState
from turnwright.journal.budgets import Used, of_an_attempt
from turnwright.journal.messages import Message

CHARACTERS_PER_TOKEN = 4
ANSWER_TOKENS = 1_000


def expected_use(state: AgentState) -> Used:
    """Tokens and cost of the next call: what the last one took with its answer, and another answer."""
    settings = {} if state.agent is None else state.agent.model_settings
    bound = settings.get("max_tokens")
    answer = bound if isinstance(bound, int) and bound > 0 else ANSWER_TOKENS
    tokens = of_an_attempt(_input_tokens(state) + answer)
    known = state.usage.total
    cost = tokens * known.cost_microusd // known.total_tokens if known.total_tokens else 0
    return Used(tokens=tokens, cost_microusd=of_an_attempt(cost))


def _input_tokens(state: AgentState) -> int:
    """The request's tokens: counted by the provider up to its last answer, estimated by length behind that."""
    since: list[Message] = []
    for message in reversed(state.context):
        if message.usage is not None:
            return message.usage.total_tokens + _estimated(since)
        since.append(message)
    return _estimated(since)


def _estimated(messages: list[Message]) -> int:
    texts = (message.text for message in messages)
    results = (block.text for m in messages for r in m.results for block in r.output if block.type == "text")
    return sum(map(len, (*texts, *results))) // CHARACTERS_PER_TOKEN
