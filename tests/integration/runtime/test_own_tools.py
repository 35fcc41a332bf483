"""An agent's own tools, carried out by a real worker: plans, questions, todos and groups of tools."""

from pathlib import Path

from tests.integration.runtime.agents import trace
from tests.integration.runtime.asking import last_asked, respond, results
from tests.integration.runtime.cluster import Cluster
from tests.integration.runtime.scripts import call, calls, say
from turnwright.activities import Agent, External, Permissions, Question, ToolContext, agent_tools, session_search, tool
from turnwright.journal.briefing import HEADING
from turnwright.journal.entries import PlanChanged, TasksChanged, ToolsChanged
from turnwright.journal.view import request_messages


@tool
async def note(log: str) -> str:
    """Leave a note."""
    trace(log, "noted")
    return "noted"


@tool(effect="read", group="web")
async def fetch(url: str) -> str:
    """Fetch a page."""
    return f"page {url}"


@tool
async def inspect_parcel(parcel: str) -> External:
    """Have a parcel inspected."""
    return External(f"Inspect {parcel}")


@tool
async def engrave(ctx: ToolContext, ring: str) -> Question | str:
    """Engrave a ring, with what the customer wants on it."""
    answers = {} if ctx.answers is None else await ctx.answers()
    if "words" not in answers:
        return Question("Which words?", again="words", kept={"ring": ring})
    words = answers["words"]
    return f"{words.kept['ring']}: {words.values['words'] if words.given else 'nothing'}"


PLANNER = Agent(
    "planner",
    "scripted:test",
    tools=[*agent_tools(), session_search, note, fetch, inspect_parcel, engrave],
    permissions=Permissions(mode="bypass"),
)


async def test_while_a_plan_is_active_nothing_is_changed_and_it_is_left_with_approval(
    small_cluster: Cluster, tmp_path: Path
) -> None:
    await small_cluster.start_worker(agents=(PLANNER,))
    log = tmp_path / "log"
    writing = call("note", log=str(log))
    steps = (call("plan_enter"), writing, call("plan_write", document="1. note"), call("plan_exit"), writing, say("ok"))
    turn = await small_cluster.submit(*steps, agent="planner")
    asked = await last_asked(turn)
    assert asked.kind == "approval"
    assert "1. note" in asked.asked["message"]
    assert not log.exists()
    assert (await respond(turn, asked.interaction_id, "approve")).status == "accepted"
    await turn.until("completed")
    assert [outcome for _, outcome, _ in await results(turn)] == ["success", "denied", "success", "success", "success"]
    assert log.read_text() == "noted\n"
    plans = [e.payload.plan for e in await turn.of_type("plan.changed") if isinstance(e.payload, PlanChanged)]
    assert [plan.active for plan in plans] == [True, True, False]


async def test_a_plan_that_is_not_approved_stays_active(small_cluster: Cluster) -> None:
    await small_cluster.start_worker(agents=(PLANNER,))
    steps = (call("plan_enter"), call("plan_write", document="1. note"), call("plan_exit"), say("I go on planning."))
    turn = await small_cluster.submit(*steps, agent="planner")
    await respond(turn, (await last_asked(turn)).interaction_id, "deny", message="first look at the invoices")
    await turn.until("completed")
    assert (await results(turn))[-1] == ("plan_exit", "denied", "first look at the invoices")
    state = await small_cluster.journal.state(turn.key)
    assert state.plan.active


async def test_an_answer_that_fits_becomes_the_result_of_the_call(small_cluster: Cluster) -> None:
    await small_cluster.start_worker(agents=(PLANNER,))
    asking = call("ask_user", question="Which colour?", choices=["red", "blue"])
    turn = await small_cluster.submit(asking, say("thanks"), agent="planner")
    asked = await last_asked(turn)
    assert (asked.kind, asked.asked["prompt"]) == ("form", "Which colour?")
    refused = await respond(turn, asked.interaction_id, "answer", answer="green")
    assert (refused.status, "must be one of: red, blue" in (refused.reason or "")) == ("rejected", True)
    assert (await respond(turn, asked.interaction_id, "answer", answer="blue")).status == "accepted"
    await turn.until("completed")
    assert (await results(turn))[-1] == ("ask_user", "success", '{"answer":"blue"}')


async def test_a_result_from_outside_is_delivered_to_the_call(small_cluster: Cluster) -> None:
    await small_cluster.start_worker(agents=(PLANNER,))
    turn = await small_cluster.submit(call("inspect_parcel", parcel="P-1"), say("thanks"), agent="planner")
    asked = await last_asked(turn)
    assert (asked.kind, asked.asked["prompt"]) == ("external", "Inspect P-1")
    await respond(turn, asked.interaction_id, "succeeded", output="undamaged")
    await turn.until("completed")
    assert [result[1:] for result in await results(turn)] == [("deferred", ""), ("success", "undamaged")]


async def test_todos_are_changed_with_the_result_or_not_at_all(small_cluster: Cluster) -> None:
    await small_cluster.start_worker(agents=(PLANNER,))
    circle = [{"id": "a", "subject": "look", "blocked_by": ["b"]}, {"id": "b", "subject": "act", "blocked_by": ["a"]}]
    steps = (call("todo_write", todos=circle), call("todo_write", todos=[{"id": "a", "subject": "look"}]), say("ok"))
    turn = await small_cluster.submit(*steps, agent="planner")
    await turn.until("completed")
    first, second = await results(turn)
    assert (first[1], "in a circle" in first[2]) == ("error", True)
    assert second[1] == "success"
    (changed,) = [e.payload for e in await turn.of_type("tasks.changed") if isinstance(e.payload, TasksChanged)]
    assert (changed.tasks.revision, changed.tasks.todos[0].id) == (1, "a")


async def test_what_a_request_adds_about_the_agents_work_is_stored_nowhere(small_cluster: Cluster) -> None:
    await small_cluster.start_worker(agents=(PLANNER,))
    writing = call("todo_write", todos=[{"id": "a", "subject": "look"}])
    turn = await small_cluster.submit(writing, say("I see: {result}"), agent="planner")
    await turn.until("completed")
    state = await small_cluster.journal.state(turn.key)
    added = request_messages(state)[-1]
    assert HEADING in added.text
    assert added not in state.context
    assert not any(HEADING in entry.payload.model_dump_json() for entry in await turn.entries())


async def test_two_calls_of_one_step_lose_nothing_of_each_other(small_cluster: Cluster) -> None:
    await small_cluster.start_worker(agents=(PLANNER,))
    texts = ["fast", "small", "cheap"]
    proposing = calls(*(("propose_requirement", {"text": text}) for text in texts))
    turn = await small_cluster.submit(proposing, say("ok"), agent="planner")
    await turn.until("completed")
    state = await small_cluster.journal.state(turn.key)
    assert sorted(known.text for known in state.tasks.requirements) == sorted(texts)
    assert [known.id for known in state.tasks.requirements] == ["r1", "r2", "r3"]
    assert state.tasks.revision == 3


async def test_a_tool_of_a_group_is_called_after_its_activation_only(small_cluster: Cluster) -> None:
    await small_cluster.start_worker(agents=(PLANNER,))
    steps = (call("fetch", url="x"), call("activate_tools", groups=["web"]), call("fetch", url="x"), say("ok"))
    turn = await small_cluster.submit(*steps, agent="planner")
    await turn.until("completed")
    before, activated, after = await results(turn)
    assert before[1] == "error"
    assert "web" in before[2]
    assert activated[1:] == ("success", "You can call now: fetch.")
    assert after[1:] == ("success", "page x")
    (changed,) = [e.payload for e in await turn.of_type("tools.changed") if isinstance(e.payload, ToolsChanged)]
    assert changed.groups == ("web",)


async def test_what_was_said_before_is_found_by_the_agent_itself(small_cluster: Cluster) -> None:
    await small_cluster.start_worker(agents=(PLANNER,))
    turn = await small_cluster.submit(call("session_search", text="bicycles"), say("done"), agent="planner")
    await turn.until("completed")
    assert await results(turn) == [("session_search", "success", "Nothing was found.")]
    await (await small_cluster.submit(say("Bicycles are sold out."), agent="planner")).until("completed")
    turn = await small_cluster.submit(call("session_search", text="bicycles"), say("done"), agent="planner")
    await turn.until("completed")
    assert "Bicycles are sold out." in (await results(turn))[0][2]


async def test_a_tool_that_asks_to_be_called_again_finds_its_answer(cluster: Cluster) -> None:
    await cluster.start_worker(agents=(PLANNER,))
    turn = await cluster.submit(call("engrave", ring="r-1"), say("done"), agent="planner")
    await respond(turn, (await last_asked(turn)).interaction_id, "answer", words="for ever")
    await turn.until("completed")
    assert (await results(turn))[-1] == ("engrave", "success", "r-1: for ever")
