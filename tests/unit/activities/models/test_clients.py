"""A model that cannot be made says what is missing here, not what pydantic-ai's own agents would do."""

import pytest
from pydantic_ai.exceptions import UserError

from turnwright.activities.models.clients import Key, make_model


def test_a_missing_key_is_named_with_the_model_that_needs_none(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    with pytest.raises(UserError) as refused:
        make_model(Key("openai:gpt-5"))
    assert str(refused.value) == (
        "Set the `OPENAI_API_KEY` environment variable to use the OpenAI provider. "
        'To try an agent without a key, give it model="scripted:".'
    )
