"""A conversation from elsewhere goes on with a real worker: the model is asked with all of it."""

from tests.integration.runtime.agents import TOOLS
from tests.integration.runtime.cluster import Cluster
from tests.integration.runtime.scripts import call, say
from turnwright.activities.agent import Agent
from turnwright.activities.models.port import ModelRequest, ModelResponse, Partial
from turnwright.activities.models.router import Models
from turnwright.activities.permissions import Permissions
from turnwright.client.bringing import bringing
from turnwright.journal.agents import ContextPolicy
from turnwright.journal.elsewhere import read_conversation
from turnwright.journal.entries import ContextOffloaded, ToolFinished
from turnwright.journal.ids import ThreadKey
from turnwright.journal.messages import Text

STATE = {
    "context": [
        {"role": "USER", "content": [{"type": "text", "text": "What is 2 and 3?"}]},
        {"role": "ASSISTANT", "content": [{"type": "tool_use", "id": "a", "name": "add", "input": {"a": 2, "b": 3}}]},
    ],
    "permission_context": {
        "deny_rules": {"add": [{"tool_name": "add", "rule_content": None, "behavior": "deny", "source": "ours"}]}
    },
}


class Recording(Models):
    """Plays scripts, and remembers what it was sent."""

    def __init__(self) -> None:
        super().__init__()
        self.asked: list[ModelRequest] = []

    async def respond(self, request: ModelRequest, partial: Partial) -> ModelResponse:
        self.asked.append(request)
        return await super().respond(request, partial)


async def test_the_model_is_asked_with_all_that_was_brought_and_what_was_denied_stays_denied(
    small_cluster: Cluster,
) -> None:
    models = Recording()
    agent = Agent("bot", "scripted:test", tools=TOOLS, permissions=Permissions(mode="bypass"))
    await small_cluster.start_worker(agents=(agent,), models=models)
    session = await small_cluster.session()
    key = ThreadKey(session.tenant, session.user, "bot", session.session, "main")
    command = bringing(read_conversation("agentscope", STATE), "brought", "ann", None)
    assert (await small_cluster.journal.execute(key, command)).status == "accepted"
    turn = await small_cluster.submit(call("add", a=1, b=1), say("it was refused"), agent="bot")
    await turn.until("completed")
    first, second = models.asked
    assert [(message.role, message.text) for message in first.messages] == [
        ("user", "What is 2 and 3?"), ("assistant", ""), ("tool", ""), ("user", "please"),
    ]  # fmt: skip
    assert [result.outcome for message in second.messages for result in message.results] == ["interrupted", "denied"]
    state = await small_cluster.journal.state(key)
    assert (state.permissions.mode, [rule.tool for rule in state.permissions.deny]) == ("bypass", ["add"])


async def test_a_long_result_that_was_brought_gives_way_and_is_read_back(small_cluster: Cluster) -> None:
    log = "".join(f"line {number}\n" for number in range(5_000))
    chat = [
        {"role": "user", "content": "Read the log."},
        {
            "role": "assistant",
            "content": None,
            "tool_calls": [{"id": "c", "type": "function", "function": {"name": "read", "arguments": "{}"}}],
        },
        {"role": "tool", "tool_call_id": "c", "content": log},
    ]
    policy = ContextPolicy(window_tokens=6_000, result_characters_max=1_000)
    agent = Agent("bot", "scripted:test", tools=TOOLS, permissions=Permissions(mode="bypass"), context=policy)
    await small_cluster.start_worker(agents=(agent,))
    session = await small_cluster.session()
    key = ThreadKey(session.tenant, session.user, "bot", session.session, "main")
    command = bringing(read_conversation("openai", chat), "brought", "ann", None)
    assert (await small_cluster.journal.execute(key, command)).status == "accepted"
    first = await small_cluster.submit(say("I see"), agent="bot")
    await first.until("completed")
    (offloaded,) = [e.payload for e in await small_cluster.entries(key) if isinstance(e.payload, ContextOffloaded)]
    assert "read_result" in offloaded.stub
    second = await small_cluster.submit(
        call("read_result", call_id=offloaded.call_id, start=20_000), say("found"), agent="bot"
    )
    await second.until("completed")
    (finished,) = [e.payload for e in await second.entries() if isinstance(e.payload, ToolFinished)]
    read = "".join(block.text for block in finished.output if isinstance(block, Text))
    assert (finished.outcome, "line 2300" in read) == ("success", True)
