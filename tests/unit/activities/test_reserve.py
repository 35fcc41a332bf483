"""What a model call reserves of its session's budget."""

import pytest

from turnwright.activities.runtime.reserve import expected_use
from turnwright.journal.agent_state import AgentState, UsageState
from turnwright.journal.agents import AgentDefinition
from turnwright.journal.budgets import OF_AN_ATTEMPT_MAX
from turnwright.journal.messages import Usage


@pytest.mark.parametrize("max_tokens", [2**70, -5])
def test_what_a_call_is_expected_to_use_can_be_counted_whatever_is_said_of_models(max_tokens: int) -> None:
    agent = AgentDefinition(name="a", model="m", model_settings={"max_tokens": max_tokens})
    for used in (Usage(input_tokens=-7, cost_microusd=2**80), Usage(input_tokens=1, cost_microusd=-(2**80))):
        reserved = expected_use(AgentState(agent=agent, usage=UsageState(total=used)))
        assert 0 < reserved.tokens <= OF_AN_ATTEMPT_MAX
        assert 0 <= reserved.cost_microusd <= OF_AN_ATTEMPT_MAX
