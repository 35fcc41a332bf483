"""What is recorded: for each name, the run of a workflow that shows it.

Rule: each takes a way the workflow code can go. A scenario returns the handle of the run, so a turn's first
run can be meant where it has several. Several scenarios' runs may come from one story.
"""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

from temporalio.client import ScheduleActionExecutionStartWorkflow, WorkflowHandle

from tests.integration.runtime.agents import BOT
from tests.integration.runtime.bug import Bug
from tests.integration.runtime.cluster import Cluster, Turn
from tests.integration.runtime.gated import GatedModels
from tests.integration.runtime.outage import Outage
from tests.integration.runtime.scripts import call, calls, say, task
from tests.integration.runtime.workers import DEADLINE_S, SETTINGS
from turnwright.activities.agent import Agent
from turnwright.journal.commands import CreateSchedule, PauseSession
from turnwright.journal.schedules import Definition, Times
from turnwright.journal.transact.thread_script import Terms
from turnwright.workflows.ids import schedule_id, session_workflow_id
from turnwright.workflows.schedules import Scheduler, Wanted

Run = WorkflowHandle[Any, Any]
Scenario = Callable[[Cluster, Path], Awaitable[Run]]


async def first_run(turn: Turn) -> Run:
    """The run that claimed the turn first."""
    entry = (await turn.until_entry("run.claimed"))[0]
    return turn.cluster.client.get_workflow_handle(turn.handle.id, run_id=entry.run)


async def ended(run: Run, cluster: Cluster) -> Run:
    await cluster.until_closed(run)
    return run


async def in_a_tool(cluster: Cluster, folder: Path, tool: str = "look") -> tuple[Turn, Path]:
    log, gate = folder / "log", folder / "gate"
    turn = await cluster.submit(call(tool, log=str(log), wait_for=str(gate)), say("done"))
    await cluster.until_trace(log, "started")
    return turn, gate


async def turn_completed(cluster: Cluster, folder: Path) -> Run:
    await cluster.start_worker()
    turn = await cluster.submit(call("add", a=1, b=2), calls(*[("add", {"a": n, "b": n}) for n in range(3)]), say("ok"))
    await turn.until("completed")
    return await ended(turn.handle, cluster)


async def turn_steered(cluster: Cluster, folder: Path) -> Run:
    await cluster.start_worker()
    turn, gate = await in_a_tool(cluster, folder)
    await turn.steer("be quick")
    gate.touch()
    await turn.until("completed")
    return await ended(turn.handle, cluster)


async def turn_delayed(cluster: Cluster, folder: Path) -> Run:
    await cluster.start_worker()
    turn = await cluster.submit({"fail": "cut", "times": 1}, {"cut": "some words", "times": 1}, say("at last"))
    await turn.until("completed")
    return await ended(turn.handle, cluster)


async def turn_failed(cluster: Cluster, folder: Path) -> Run:
    await cluster.start_worker()
    turn = await cluster.submit({"fail": "invalid"})
    await turn.until("failed")
    return await ended(turn.handle, cluster)


async def turn_parked(cluster: Cluster, folder: Path) -> Run:
    models = GatedModels()
    await cluster.start_worker(models=models)
    turn = await cluster.submit(call("add", a=1, b=2), say("done"))
    run = await first_run(turn)
    await turn.until_entry("model.requested")
    await turn.pause()
    models.allow()
    await turn.until_pause("effective")
    return await ended(run, cluster)


async def turn_cancelled(cluster: Cluster, folder: Path) -> Run:
    await cluster.start_worker()
    turn, _ = await in_a_tool(cluster, folder)
    await turn.cancel()
    await turn.until("cancelled")
    return await ended(turn.handle, cluster)


async def turn_cancelled_by_temporal(cluster: Cluster, folder: Path) -> Run:
    await cluster.start_worker()
    turn, _ = await in_a_tool(cluster, folder)
    await turn.handle.cancel()
    await turn.until("cancelled")
    return await ended(turn.handle, cluster)


async def turn_hand_typed(cluster: Cluster, folder: Path) -> Run:
    await cluster.start_worker()
    turn, gate = await in_a_tool(cluster, folder)
    await turn.handle.signal("pause")
    await turn.until_pause("requested")
    await turn.handle.signal("pause", "again")
    await turn.handle.signal("resume", args=[{"revision": "x"}, None])
    await turn.until_pause("none")
    await turn.handle.signal("resume", 1)
    await turn.handle.signal("frobnicate", args=[1, 2, 3])
    gate.touch()
    await turn.until("completed")
    return await ended(turn.handle, cluster)


async def turn_continued_as_new(cluster: Cluster, folder: Path) -> Run:
    await cluster.start_worker(boundary=Bug("model:begun", times=1))
    turn = await cluster.submit(say("done"))
    run = await first_run(turn)
    await turn.until("completed")
    return await ended(run, cluster)


async def turn_superseded(cluster: Cluster, folder: Path) -> Run:
    models = GatedModels()
    await cluster.start_worker(models=models)
    turn = await cluster.submit(call("add", a=1, b=2), say("done"))
    await turn.until_entry("model.requested")
    await turn.pause()
    models.allow(2)
    await turn.until_pause("effective")
    await turn.until_parked()
    await turn.resume(wake=False)
    await cluster.waker.turn(turn.key, turn.turn_id, epoch=0)
    described = await turn.handle.describe()
    run = cluster.client.get_workflow_handle(turn.handle.id, run_id=described.run_id)
    await turn.until("completed")
    return await ended(run, cluster)


async def turn_of_an_unknown_agent(cluster: Cluster, folder: Path) -> Run:
    await cluster.start_worker(agents=[Agent("stranger", "scripted:test")])
    turn = await cluster.submit(say("done"))
    await cluster.until_started(turn)
    await turn.handle.signal("wake")
    await asyncio.sleep(0.3)
    await cluster.start_worker(agents=[BOT])
    await turn.until("completed")
    return await ended(turn.handle, cluster)


async def turn_taken_over(cluster: Cluster, folder: Path) -> Run:
    models = GatedModels(deaf=True)
    ghost = await cluster.start_worker(models=models, settings=replace(SETTINGS, model_stop_s=DEADLINE_S))
    turn = await cluster.submit(say("done"))
    await turn.until_entry("model.requested")
    await ghost.hold.release()
    ghost.journal.terms = Terms(presence="as it would appear again")
    await cluster.start_worker()
    await turn.until("completed", nudging=True)
    models.allow()
    return await ended(turn.handle, cluster)


async def turn_waiting_for_a_person(cluster: Cluster, folder: Path) -> Run:
    await cluster.start_worker(boundary=Bug("tool:ran", times=1))
    turn = await cluster.submit(call("send", log=str(folder / "log")), say("done"))
    run = await first_run(turn)
    await turn.until("waiting")
    return await ended(run, cluster)


async def turn_restarted_under_a_running_tool(cluster: Cluster, folder: Path) -> Run:
    await cluster.start_worker()
    turn, gate = await in_a_tool(cluster, folder)
    await turn.handle.terminate("to be restarted")
    await cluster.waker.thread(turn.key)
    await turn.until_entry("run.claimed", 2)
    gate.touch()
    await turn.until("completed")
    return await ended(turn.handle, cluster)


async def turn_while_the_store_was_away(cluster: Cluster, folder: Path) -> Run:
    worker = await cluster.start_worker()
    turn, gate = await in_a_tool(cluster, folder)
    worker.journal.driver.hook = outage = Outage()
    outage.on = True
    await turn.handle.signal("wake")

    async def tried() -> bool:
        return outage.refused > 6

    await cluster.until(tried)
    outage.on = False
    gate.touch()
    await turn.until("completed")
    return await ended(turn.handle, cluster)


async def turn_in_flight(cluster: Cluster, folder: Path) -> Run:
    await cluster.start_worker()
    turn, _ = await in_a_tool(cluster, folder)
    return turn.handle


async def thread_woken_often(cluster: Cluster, folder: Path) -> Run:
    await cluster.start_worker()
    turns = [await cluster.submit(say("done")) for _ in range(3)]
    await cluster.thread_handle(turns[0].key).signal("frobnicate", args=[1, 2])
    for turn in turns:
        await turn.until("completed")
    return await ended(cluster.thread_handle(turns[0].key), cluster)


async def session_fanned_out(cluster: Cluster, folder: Path) -> Run:
    await cluster.start_worker()
    turns = [await cluster.submit({"silent": True}, thread=f"t{n}") for n in range(3)]
    session = turns[0].key.session_key
    await cluster.execute(session, PauseSession(request_id="p"))
    return await ended(cluster.client.get_workflow_handle(session_workflow_id(cluster.journal_id, session)), cluster)


async def schedule_ticked(cluster: Cluster, folder: Path) -> Run:
    await cluster.start_worker()
    session = await cluster.session()
    definition = Definition(name="news", agent="bot", input=task(say("done")), times=Times(every_s=86_400))
    await cluster.execute(session, CreateSchedule(request_id="c", definition=definition), wake=False)
    [made] = (await cluster.journal.session(session)).control.schedules.values()  # type: ignore[union-attr]
    await Scheduler(cluster.waker).apply(Wanted(session, made.generation, definition, paused=False), made.created_us)
    schedule = cluster.client.get_schedule_handle(schedule_id(cluster.journal_id, session, made.generation))
    await schedule.trigger()

    async def begun() -> Run | None:
        actions = (await schedule.describe()).info.recent_actions
        action = actions[0].action if actions else None
        if not isinstance(action, ScheduleActionExecutionStartWorkflow):
            return None
        return cluster.client.get_workflow_handle(action.workflow_id)

    return await ended(await cluster.until(begun), cluster)


SCENARIOS: dict[str, Scenario] = {
    made.__name__: made
    for made in (
        turn_completed,
        turn_steered,
        turn_delayed,
        turn_failed,
        turn_parked,
        turn_cancelled,
        turn_cancelled_by_temporal,
        turn_hand_typed,
        turn_continued_as_new,
        turn_superseded,
        turn_of_an_unknown_agent,
        turn_taken_over,
        turn_waiting_for_a_person,
        turn_restarted_under_a_running_tool,
        turn_while_the_store_was_away,
        turn_in_flight,
        thread_woken_often,
        session_fanned_out,
        schedule_ticked,
    )
}
