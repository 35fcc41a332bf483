"""What a model call will probably use, reserved of its session's budget while it runs.

Rule: a guess that costs nothing. It only keeps threads of one session from all starting a call on the last of its
budget; what is counted in the end is what the provider says.
"""

from __future__ import annotations

from turnwright.journal.agent_state import AgentState
from turnwright.journal.budgets import Used, of_an_attempt
from turnwright.journal.context.tokens import request_tokens

ANSWER_TOKENS = 1_000


def expected_use(state: AgentState) -> Used:
    """Tokens and cost of the next call: what the last one took with its answer, and another answer."""
    settings = {} if state.agent is None else state.agent.model_settings
    bound = settings.get("max_tokens")
    answer = bound if isinstance(bound, int) and bound > 0 else ANSWER_TOKENS
    tokens = of_an_attempt(request_tokens(state) + answer)
    known = state.usage.total
    cost = tokens * known.cost_microusd // known.total_tokens if known.total_tokens else 0
    return Used(tokens=tokens, cost_microusd=of_an_attempt(cost))
