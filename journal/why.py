"""Why a turn stands where it stands: one sentence, from the journal and who lives.

Rule: it asks `plan`, as a run would, so nothing that can hold a turn is missing here. It never changes anything.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field, replace
from typing import Literal

from turnwright.journal.actions import Action, Delay, ModelOp, Op, Park, ReconcileOp, Record, Start, ToolOp, Work
from turnwright.journal.acts import Act, Level
from turnwright.journal.budgets import NOTHING, Used
from turnwright.journal.control import ActiveTurn, Claim, OpenInteraction, SessionControl, ThreadControl
from turnwright.journal.driver import Presence
from turnwright.journal.durations import SECOND_US, human
from turnwright.journal.entries.operation import InteractionKind
from turnwright.journal.facts import Facts
from turnwright.journal.ids import ThreadKey
from turnwright.journal.plan import plan
from turnwright.journal.stalls import USELESS_WAKES_MAX
from turnwright.journal.takers import NOBODY, START_ONE, Due, Obstacle, hindered, worker_words
from turnwright.journal.turn_status import TurnStatus, cancel_words
from turnwright.journal.ways import way_to_resume, ways_to_answer

QUIET_S = 15
WAKES_TOLD_MIN = 2
CHILDREN_TOLD_MAX = 3

Code = Literal[
    "finished", "cancelling", "pausing", "paused", "waiting", "behind", "retry", "reserved", "operation", "worker_lost",
    "due", "stalled", "enlisted", "unreadable", Obstacle,
]  # fmt: skip


@dataclass(frozen=True, slots=True)
class Scene:
    """A turn and what stands around it, all of one moment.

    `front` is the first of its thread's queue, `ahead` counts the turns that come before this one, and
    `last_at_us` is when its thread's last entry was written. `held_by` says who set which pause, `cancelled_by` who
    cancelled it. `enlisted`: its caller's transaction is committed, and nobody has queued it yet. `serving`: presences
    that are in touch with the journal's Temporal; None: that was not looked at. `reducer`: the version that wrote its
    thread or session. `wakes`: how often its thread was woken since its last entry. `elsewhere` and `reserved` are
    those of `Facts`. `children` are the turns whose end it waits for, the first of many; so many more are
    `children_unseen`. `tools_away`: why what its tools come from could not be asked before its model call.
    """

    key: ThreadKey
    status: TurnStatus
    control: ThreadControl
    session: SessionControl
    front: TurnStatus | None = None
    ahead: int = 0
    now_us: int = 0
    last_at_us: int = 0
    held_by: Mapping[Level, Act] = field(default_factory=dict)
    cancelled_by: Act | None = None
    enlisted: bool = False
    serving: frozenset[str] | None = None
    reducer: int = 0
    wakes: int = 0
    elsewhere: Used | None = None
    reserved: Used = NOTHING
    children: tuple[Scene, ...] = ()
    children_unseen: int = 0
    tools_away: str = ""


@dataclass(frozen=True, slots=True)
class Why:
    """What a turn waits for: a stable code, a sentence, and since or until when (microseconds)."""

    code: Code
    text: str
    since_us: int | None = None
    until_us: int | None = None


def why(scene: Scene, presences: Collection[Presence]) -> Why:
    """What the turn waits for.

    Args:
        scene: the turn and its surroundings.
        presences: every worker that left a trace, alive or not; one that is missing is dead.
    """
    if scene.status.finished:
        return _finished(scene)
    if scene.enlisted:
        return _enlisted(scene, presences)
    if scene.status.session_seq < scene.session.cancelled_seq and scene.status.phase != "cancelling":
        by = f" by {scene.session.cancelled_by}" if scene.session.cancelled_by else ""
        return Why("cancelling", f"Its session was cancelled{by}: the next look at its thread cancels it.")
    facts = Facts(now_us=scene.now_us, front=scene.front, elsewhere=scene.elsewhere, reserved=scene.reserved)
    action = plan(scene.control, scene.session, facts, scene.status.turn_id)
    match action:
        case Park():
            return _parked(scene, presences)
        case Delay(why="reserved"):
            return Why("reserved", f"{_RESERVED}.")
        case Delay(until_us=until_us):
            return _delayed(scene, until_us)
        case Work(running=running) if running:
            return _running(scene, running, presences)
        case Start() | Work() | Record():
            return _due(scene, action, presences)
        case _:
            return _behind(scene, presences)


def _enlisted(scene: Scene, presences: Collection[Presence]) -> Why:
    if not any(presence.liveness.state == "alive" for presence in presences):
        return Why("no_worker", f"{NOBODY.capitalize()} to queue it; {START_ONE}.")
    ago = human(scene.now_us - scene.status.queued_at_us)
    text = f"It was submitted {ago} ago in a transaction of its caller, and a worker is about to queue it"
    if scene.now_us - scene.status.queued_at_us > QUIET_S * SECOND_US:  # before the commit, or since it
        text += "; if that lasts, the workers' logs say why (`enlisted_not_taken`)"
    return Why("enlisted", f"{text}.", scene.status.queued_at_us)


def _finished(scene: Scene) -> Why:
    status = scene.status
    if status.phase == "cancelled":
        return Why("finished", f"Nothing: it was cancelled {_cancelled(scene)}.", status.ended_at_us)
    ago = human(scene.now_us - (status.ended_at_us or scene.now_us))
    text = f"Nothing: it {status.phase} {ago} ago"
    text += f" ({status.code}: {status.message})" if status.message else f" ({status.code})" if status.code else ""
    if status.phase == "failed":
        failed = scene.control.failed
        last = failed is not None and failed.turn_id == status.turn_id
        why_not = "a later turn has started or the context was cleared" if status.started_at_us else "it never started"
        text += "; `retry` puts it back at the head" if last else f"; {why_not}, so submit it anew"
    return Why("finished", f"{text}.", status.ended_at_us)


def _cancelled(scene: Scene) -> str:
    """When, how, by whom and why; a reason stands with who gave it."""
    status, act = scene.status, scene.cancelled_by
    how = cancel_words(status.code) or "on request"
    unsure = f"; {status.effects_unknown}" if status.effects_unknown else ""
    if act is not None:
        return f"{how}, {act.told(scene.now_us)} ({status.code}){unsure}"
    ago = human(scene.now_us - (status.ended_at_us or scene.now_us))
    return f"{how} {ago} ago ({status.code}{': ' if status.message else ''}{status.message or ''}){unsure}"


def _parked(scene: Scene, presences: Collection[Presence]) -> Why:
    flags = _flags(scene)
    asked = " and ".join(filter(None, (_questions(scene), _children(scene))))
    theirs, until_us = _of_children(scene, presences)
    if flags:
        also = f" It also waits for {asked}." if asked else ""
        return Why("paused", f"It is paused: {' and '.join(flags)}.{also}{theirs}")
    due_us = min((at for at in (_deadline(scene), until_us) if at is not None), default=None)
    return Why("waiting", f"It waits for {asked}.{theirs}", until_us=due_us)


def _children(scene: Scene) -> str:
    active = scene.control.turn(scene.status.turn_id)
    count = 0 if active is None else len(active.children)
    return "" if not count else "its child" if count == 1 else f"its {count} children"


def _of_children(scene: Scene, presences: Collection[Presence]) -> tuple[str, int | None]:
    """What the first of its children wait for, those that ask before others, and until when at the longest."""
    first = sorted(scene.children, key=lambda child: not _asks(child))[:CHILDREN_TOLD_MAX]
    told = [(child, why(child, presences)) for child in first]
    texts = [f" Of {child.status.turn_id}, its child of {child.key.agent}: {inner.text}" for child, inner in told]
    return "".join(texts), min((inner.until_us for _, inner in told if inner.until_us is not None), default=None)


def _asks(scene: Scene) -> bool:
    """Whether it asks something, or a turn below does."""
    active = scene.control.turn(scene.status.turn_id)
    return bool(active is not None and active.interactions) or any(map(_asks, scene.children))


def _flags(scene: Scene) -> list[str]:
    """The flags that are set, each with what ends it."""
    failed = scene.control.pause.source == "on_failure"
    on_thread = "a failed turn put its thread on hold" if failed else "its thread's pause is set"
    flags: tuple[tuple[Level, bool, str], ...] = (
        ("turn", scene.status.held, "its own pause is set"),
        ("thread", scene.control.pause.on, on_thread),
        ("session", scene.session.pause.on, "its session's pause is set"),
    )
    return [f"{told}{_by(scene, level)} ({_lift(scene, level)})" for level, is_set, told in flags if is_set]


def _by(scene: Scene, level: Level) -> str:
    act = scene.held_by.get(level)
    return "" if act is None else f", {act.told(scene.now_us)}"


def _lift(scene: Scene, level: Level) -> str:
    return f"`{way_to_resume(level, scene.key, scene.status.turn_id)}`"


def _questions(scene: Scene) -> str:
    active = scene.control.turn(scene.status.turn_id)
    return "" if active is None else " and ".join(_question(scene, active, i) for i in active.interactions)


def _question(scene: Scene, active: ActiveTurn, question: OpenInteraction) -> str:
    call = active.call(question.call_id or "")
    about = "" if call is None else f"the call {call.call_id} of {call.name}"
    ways = ways_to_answer(
        question.kind,
        question.interaction_id,
        key=scene.key,
        turn_id=active.turn_id,
        call_id=question.call_id,
        scope=question.scope,
        over=question.over,
    )
    commands = " or ".join(f"`{way}`" for way in ways)
    return f"{_WAITED_FOR[question.kind](question, about)} ({commands})"


def _over_budget(question: OpenInteraction, _: str) -> str:
    over = f" ({', '.join(question.over)})" if question.over else ""
    return f"someone to raise the budget of its {question.scope or 'turn'}{over}, or to let it fail"


_WAITED_FOR: dict[InteractionKind, Callable[[OpenInteraction, str], str]] = {
    "approval": lambda _, about: f"someone to allow {about or 'a call'}",
    "form": lambda _, about: f"someone to answer what {about or 'a call'} asks",
    "external": lambda _, about: f"the result of {about or 'a call'} from outside",
    "unknown_outcome": lambda _, about: f"someone to say what became of {about or 'a call'}",
    "budget": _over_budget,
}


def _deadline(scene: Scene) -> int | None:
    active = scene.control.turn(scene.status.turn_id)
    known = [] if active is None else [i.deadline_us for i in active.interactions if i.deadline_us is not None]
    return min(known, default=None)


_RESERVED = (
    "It waits for model calls of its session's other threads to end: they have reserved what is left of the session's "
    "budget, and it goes on with what they give back (or when the budget is raised)"
)


def _delayed(scene: Scene, until_us: int) -> Why:
    active = scene.control.turn(scene.status.turn_id)
    model = None if active is None else active.model
    failures = {} if model is None else model.failures
    in_ = human(until_us - scene.now_us)
    if scene.tools_away:
        text = f"It looks again in {in_} for what its tools come from, before it calls its model: {scene.tools_away}"
        return Why("retry", text, until_us=until_us)
    counted = ", ".join(f"{name} {count} times" if count > 1 else name for name, count in failures.items())
    return Why("retry", f"It tries its model again in {in_}; the model failed so far: {counted}.", until_us=until_us)


# -- what runs -------------------------------------------------------------------------------------


def _running(scene: Scene, running: tuple[Op, ...], presences: Collection[Presence]) -> Why:
    active = scene.control.active
    assert active is not None, "only an active turn runs operations"
    states = {presence.presence_id: presence.liveness.state for presence in presences}
    names = {presence.presence_id: worker_words(presence) for presence in presences}
    found = [(op, claim) for op in running if (claim := _claim(active, op)) is not None]
    texts = [
        _operation(scene, active, op, claim, names.get(claim.presence, claim.presence), states) for op, claim in found
    ]
    code, lead = _lead(scene, [states.get(claim.presence, "dead") for _, claim in found], states.values())
    return Why(code, f"{lead}{' and '.join(texts)}.", min((claim.at_us for _, claim in found), default=None))


def _lead(scene: Scene, theirs: Collection[str], all_: Collection[str]) -> tuple[Code, str]:
    """`theirs`: how the workers that run it stand; `all_`: how all do."""
    if scene.status.phase == "cancelling":
        by = "" if scene.cancelled_by is None else f" ({scene.cancelled_by.told(scene.now_us)})"
        return "cancelling", f"It is cancelled{by} when what runs has ended: "
    if _flags(scene):
        return "pausing", "It pauses when what runs has ended: "
    code: Code = "no_worker" if "alive" not in all_ else "worker_lost" if "dead" in theirs else "operation"
    return code, "It waits for its operation: "


def _claim(active: ActiveTurn, op: Op) -> Claim | None:
    if isinstance(op, ModelOp):
        return None if active.model is None else active.model.claim
    call = active.call(op.call_id)
    return None if call is None else call.claim


def _operation(scene: Scene, active: ActiveTurn, op: Op, claim: Claim, worker: str, states: Mapping[str, str]) -> str:
    what = f"{_named(active, op)} has run on {worker} for {human(scene.now_us - claim.at_us)}"
    if op.ordinal > 1:
        what += f" (attempt {op.ordinal})"
    return what + _SIGNS.get((states.get(claim.presence, "dead"), "alive" in states.values()), "")


# Of the worker that has it, and whether any worker lives.
_SIGNS = {
    ("dead", True): ", which is gone: another worker takes over",
    ("dead", False): f", which is gone, and {NOBODY} to take over; {START_ONE}",
    ("lapsed", True): ", which gives no sign of life: another worker takes over when its time is up",
    ("lapsed", False): f", which gives no sign of life, and {NOBODY} to take over; {START_ONE}",
}


def _named(active: ActiveTurn, op: Op) -> str:
    if isinstance(op, ModelOp):
        return f"the model call of step {op.step}"
    call = active.call(op.call_id)
    return f"the call {op.call_id} of {'a tool' if call is None else call.name}"


# -- what nobody has begun -------------------------------------------------------------------------


def _due(scene: Scene, action: Action, presences: Collection[Presence]) -> Why:
    due = _what_is_due(scene, action)
    against = hindered(due, presences)
    if against is not None:
        return Why(against.code, against.text, against.since_us)
    if scene.wakes >= WAKES_TOLD_MIN:
        return Why("stalled", _stalled(due.todo, scene.wakes), scene.last_at_us)
    quiet_us = scene.now_us - scene.last_at_us
    text = f"A worker is about to {due.todo}"
    if quiet_us > QUIET_S * SECOND_US:
        text += f", but nothing has happened for {human(quiet_us)}: see whether Temporal answers"
    return Why("due", f"{text}.", scene.last_at_us)


def _what_is_due(scene: Scene, action: Action) -> Due:
    active = scene.control.turn(scene.status.turn_id)
    start = action.start if isinstance(action, Work) and active is not None else ()
    calls = [active.call(op.call_id) for op in start if active is not None and not isinstance(op, ModelOp)]
    return Due(
        _next(scene, action),
        scene.key.agent,
        scene.now_us,
        tools=frozenset(call.name for call in calls if call is not None),
        reducer=scene.reducer,
        serving=scene.serving,
        calls=bool(start),
    )


def _stalled(todo: str, wakes: int) -> str:
    """The sweeper has it woken, and from a certain one on it replaces what Temporal says stands still."""
    when = "is replaced next" if wakes <= USELESS_WAKES_MAX else "was replaced each time"
    return (
        f"Nobody goes on to {todo}: it was woken {wakes} times without effect, and its workflow {when} if "
        "nothing of it is under way; `turnwright recover --dry-run` says how it stands, workers' logs what it raises."
    )


def _next(scene: Scene, action: Action) -> str:
    active = scene.control.turn(scene.status.turn_id)
    match action:
        case Start():
            return "start it"
        case Record(fact=fact):
            return _RECORDS.get(fact, f"record that it is {fact}")
        case Work(start=start) if start and active is not None:
            return " and ".join(_VERBS[type(op)](active, op) for op in start)
        case _:
            return "go on with it"


_RECORDS = {"asked": "ask what became of a call", "continued": "go on with it"}
_VERBS: dict[type[Op], Callable[[ActiveTurn, Op], str]] = {
    ModelOp: lambda active, op: f"make {_named(active, op)}",
    ToolOp: lambda active, op: f"run {_named(active, op)}",
    ReconcileOp: lambda active, op: f"ask the tool what became of {_named(active, op)}",
}


def _behind(scene: Scene, presences: Collection[Presence]) -> Why:
    active = scene.control.active
    head = scene.front if active is None else active.status
    if head is None or head.turn_id == scene.status.turn_id:
        return Why("due", "It is about to be looked at.")
    others = "one other turn" if scene.ahead <= 1 else f"{scene.ahead} other turns"
    inner = why(replace(scene, status=head, ahead=0), presences)
    own = " and paused itself" if scene.status.held else ""
    text = f"It is queued behind {others}{own}; of the head, {head.turn_id}: {inner.text}"
    return Why("behind", text, inner.since_us, inner.until_us)
