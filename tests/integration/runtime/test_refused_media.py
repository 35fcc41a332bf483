"""A file that a provider refuses does not end a conversation; one that was not to blame is not left out."""

from __future__ import annotations

import pytest

from tests.integration.runtime.agents import BOT
from tests.integration.runtime.cluster import Cluster
from tests.integration.runtime.scripts import say, task
from turnwright.activities.agent import Agent
from turnwright.activities.models import Say, script
from turnwright.activities.models.port import ModelFailure, ModelRequest, ModelResponse, Partial
from turnwright.activities.models.router import Models
from turnwright.journal.agents import ContextPolicy
from turnwright.journal.entries.operation import FailureClass
from turnwright.journal.messages import Media, Message, Usage

NOTES = script("short notes", Say(say="They looked."))
NOTING = Agent("noting", "scripted:test", context=ContextPolicy(summary_model=NOTES.model))
SEEN, HUGE = (Media(mime="image/png", url=f"https://pictures.example/{name}") for name in ("seen", "huge"))


class Provider(Models):
    """Answers by script, but refuses a picture, or everything."""

    def __init__(self, refused: Media | None, failure: FailureClass = "invalid") -> None:
        super().__init__()
        self.refused = refused
        self.failure = failure
        self.sent: list[list[str | None]] = []

    async def respond(self, request: ModelRequest, partial: Partial) -> ModelResponse:
        held = [block.url for m in request.messages for block in m.blocks if isinstance(block, Media)]
        self.sent.append(held)
        if self.refused is None or self.refused.url in held:
            raise ModelFailure(self.failure, "I cannot take this", usage=Usage(requests=1))
        return await super().respond(request, partial)


def showing(picture: Media, text: str = "look") -> Message:
    message = task(say("I see."), text=text)
    return message.model_copy(update={"blocks": (*message.blocks, picture)})


@pytest.mark.parametrize(
    ("agent", "failure", "refusals"),
    [("bot", "invalid", 1), ("bot", "context_length", 1), ("noting", "context_length", 2)],
)
async def test_a_turn_whose_picture_is_refused_is_answered_without_it_and_so_are_those_after_it(
    cluster: Cluster, agent: str, failure: FailureClass, refusals: int
) -> None:
    provider = Provider(HUGE, failure)
    await cluster.start_worker(models=provider, agents=(BOT, NOTING))
    first = await cluster.submit(message=showing(SEEN), agent=agent)
    await first.until("completed")
    refused = await cluster.submit(message=showing(HUGE), agent=agent)
    await refused.until("completed")
    turn = await cluster.submit(message=task(say("And now words.")), agent=agent)
    await turn.until("completed")
    assert provider.sent[:2] == [[SEEN.url], [SEEN.url, HUGE.url]]
    assert all(HUGE.url not in held for held in provider.sent[-2:])
    state = await cluster.journal.state(turn.key)
    assert state.refused_media == (HUGE.ref,)
    assert HUGE in [block for m in state.context for block in m.blocks]
    assert len(await refused.of_type("model.failed")) == refusals


async def test_a_picture_without_which_the_request_is_refused_too_is_not_held_to_be_the_cause(
    cluster: Cluster,
) -> None:
    provider = Provider(None)
    await cluster.start_worker(models=provider)
    failing = await cluster.submit(message=showing(SEEN))
    assert (await failing.until("failed")).retryable is False
    assert provider.sent == [[SEEN.url], []]
    provider.refused = HUGE
    turn = await cluster.submit(say("better"))
    await turn.until("completed")
    assert provider.sent[-1] == [SEEN.url]
    assert (await cluster.journal.state(turn.key)).refused_media == ()
