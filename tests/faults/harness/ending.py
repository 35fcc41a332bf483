"""The end of a random fault test: everything that holds anybody up is lifted, and then everything is proven."""

from collections import Counter
from dataclasses import replace

from tests.faults.harness.orders import TURN_STATUS
from tests.faults.harness.play import Given, Play
from tests.faults.harness.world import World
from turnwright.client import Turn
from turnwright.journal import entry_ids
from turnwright.journal.entries import Entry
from turnwright.journal.ids import SessionKey
from turnwright.journal.store_verify import rebuild
from turnwright.journal.turn_status import FINISHED

ONCE = ("post", "transfer")
ENDS = tuple(f"turn.{phase}" for phase in FINISHED)


async def until_all_ended(play: Play) -> None:
    """Lift every pause, answer every question and keep workers there until each accepted turn has ended.

    Raises:
        AssertionError: one does not; it tells what is known about it.
    """

    async def over() -> bool:
        play.crew.tend()
        await _lift_pauses(play)
        await play.answer(knowing=True)
        return not await _unfinished(play)

    await play.crew.let_go_on()
    try:
        await play.world.until(over)
    except TimeoutError:
        stuck = [await _describe(play.world, turn) for turn in await _unfinished(play)]
        raise AssertionError("\n".join(["turns are stuck:", *stuck])) from None
    await play.world.until_no_workflow()


async def assert_nothing_was_lost_or_doubled(play: Play) -> None:
    """Every command is remembered and left its entry, every turn ended once, every effect was had once."""
    world = play.world
    logs = {name: await world.entries(world.thread(name).key) for name in play.threads}
    for given in play.accepted:
        key = given.key
        log = await world.entries(key.log) if isinstance(key, SessionKey) else logs[key.thread]
        assert _left_its_entry(given, log), f"nothing in the journal tells of {given}"
        again = await world.client._access.command(key, given.command, check=False)
        assert again == replace(given.receipt, duplicate=True)
    for turn in play.turns:
        types = Counter(entry.type for entry in logs[turn.key.thread] if entry.turn_id == turn.id)
        assert sum(types[end] for end in ENDS) == 1 + types["turn.retried"], (turn, types)
    for tool in ONCE:
        effects = Counter(world.ledger.keys("effect", tool))
        assert not {key: count for key, count in effects.items() if count > 1}, "a once effect happened twice"


async def assert_rebuilt_is_the_same(play: Play) -> None:
    """What is derived from the entries, made anew from them, is what it was; each call has one result in it."""
    before = await _derived(play)
    kept = [rebuilt async for rebuilt in rebuild(play.world.journal) if rebuilt.kept]
    assert kept == []
    assert await _derived(play) == before


async def _lift_pauses(play: Play) -> None:
    session = await play.world.session.status()
    if session.control.pause.on:
        await play.order_session("resume_session")
    for name in play.threads:
        row = await play.world.journal.thread(play.world.thread(name).key)
        if row is not None and row.control.pause.on:
            await play.order_thread("resume_thread", name)
    for turn in await _unfinished(play):
        if (await turn.status()).row.held:
            await play.order_turn("resume_turn", turn)


async def _unfinished(play: Play) -> list[Turn]:
    return [turn for turn in play.turns if not (await turn.status()).finished]


async def _describe(world: World, turn: Turn) -> str:
    why = await turn.why()
    lines = [f"{entry.seq:5} {entry.type} {entry.payload}" for entry in await _log_of(world, turn)]
    return "\n".join([f"{turn} {await turn.status()}", f"why: {why.code}: {why.text}", *lines])


async def _log_of(world: World, turn: Turn) -> list[Entry]:
    """What concerns the turn: its own entries, and those of nobody's turn."""
    return [entry for entry in await world.entries(turn.key) if entry.turn_id in (turn.id, None)]


def _left_its_entry(given: Given, log: list[Entry]) -> bool:
    until = [entry for entry in log if entry.seq <= given.receipt.seq]
    assert until[-1].seq == given.receipt.seq, "the log ends before the receipt"
    types = TURN_STATUS.get(type(given.command))
    if types is None:
        return entry_ids.command(given.command.request_id, 0) in {entry.entry_id for entry in until}
    turn_id = getattr(given.command, "turn_id", None)
    return any(entry.type in types and turn_id in (None, entry.turn_id) for entry in until)


async def _derived(play: Play) -> list[object]:
    journal, found = play.world.journal, list[object]()
    for name in play.threads:
        key = play.world.thread(name).key
        row = await journal.thread(key)
        if row is not None:
            journal.forget(key)
            found += [row.seq, row.hash, row.control, row.runnable, await journal.state(key)]
            found.append(await play.world.transcript(name))
    return [*found, *[await journal.turn(turn.key, turn.id) for turn in play.turns]]
