"""A command that changes a part of the agent's state is decided about the state of that moment, or not at all."""

import pytest

from tests.integration.journal.conftest import KEY, Played, Sql
from turnwright.journal.commands import CallSpec, ChangeState, FinishTool, PauseTurn, StartTool, UpdateState
from turnwright.journal.driver import Driver
from turnwright.journal.errors import StoreCorrupt
from turnwright.journal.messages import Text, ToolCall
from turnwright.journal.state_ops import BeginTask, WriteTodos
from turnwright.journal.state_parts import Todo
from turnwright.journal.store import Journal


@pytest.fixture
async def finish(played: Played) -> FinishTool:
    """What the worker reports of a call that wrote down what is to do."""
    turn = await played.submit("one")
    epoch = await played.claim(turn)
    await played.ask(turn, epoch)
    await played.execute(KEY, ChangeState(request_id="task", op=BeginTask(objective="a journey")))
    outcome = await played.answer(turn, epoch, ToolCall(id="c", name="note", arguments={}), tools={"note": CallSpec()})
    assert outcome.control.active is not None
    [call] = outcome.control.active.calls
    of = {"turn_id": turn, "epoch": epoch, "step": 1, "call_id": call.call_id}
    await played.run(KEY, StartTool(**of, nonce="n", presence="worker", spec=CallSpec()))  # type: ignore[arg-type]
    todos = WriteTodos(todos=(Todo(id="1", subject="look"),))
    return FinishTool(**of, ordinal=1, outcome="success", output=(Text(text="ok"),), ops=(todos,))  # type: ignore[arg-type]


async def test_a_call_s_changes_are_of_the_state_as_it_is_now(played: Played, finish: FinishTool) -> None:
    outcome = await played.run(KEY, finish)
    assert [entry.type for entry in outcome.entries][:2] == ["tool.finished", "tasks.changed"]
    state = await Journal(played.journal.driver).state(KEY)
    assert state.tasks.objective == "a journey"
    assert [todo.subject for todo in state.tasks.todos] == ["look"]


async def test_a_state_that_is_known_already_is_not_read_again(
    played: Played, finish: FinishTool, driver: Driver
) -> None:
    await played.journal.state(KEY)
    seen: list[str] = []
    driver.hook = seen.append
    await played.run(KEY, finish)
    driver.hook = None
    assert "find_checkpoint" not in seen
    assert "read_entries" not in seen


async def test_a_result_whose_state_cannot_be_loaded_is_not_taken_for_another(
    played: Played, finish: FinishTool, sql: Sql
) -> None:
    [(thread, body)] = await sql(
        "SELECT p.thread_id, p.body FROM payloads p JOIN threads t ON t.id = p.thread_id"
        " WHERE t.agent <> '' AND p.seq = 1"
    )
    await sql("UPDATE payloads SET body = $1 WHERE thread_id = $2 AND seq = 1", b"{", thread)
    before = await played.journal.thread(KEY)
    with pytest.raises(StoreCorrupt, match="turnwright journal verify"):
        await Journal(played.journal.driver, played.journal.terms).run(KEY, finish)
    assert await played.journal.thread(KEY) == before
    await sql("UPDATE payloads SET body = $1 WHERE thread_id = $2 AND seq = 1", body, thread)
    outcome = await played.run(KEY, finish)
    assert "tasks.changed" in [entry.type for entry in outcome.entries]


async def test_an_update_is_decided_about_the_state_it_names(played: Played, finish: FinishTool) -> None:
    await played.run(KEY, finish)
    await played.execute(KEY, PauseTurn(request_id="pause", turn_id=finish.turn_id))
    state = await played.journal.state(KEY)
    tasks = state.tasks.model_copy(update={"todos": ()}).model_dump(mode="json")
    update = UpdateState(request_id="update", expected_seq=state.as_of_seq, changes={"tasks": tasks}, reason="tidy")
    await played.execute(KEY, update)
    assert (await Journal(played.journal.driver).state(KEY)).tasks.todos == ()
