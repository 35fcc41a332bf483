"""Which workers could go on with a turn, and what keeps those that live from it.

Rule: it goes by what workers tell beside their presence; what one does not tell does not keep it from anything. Each
rule leaves those that pass it to the next, so what is said is true of all that the rules before have left.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

from turnwright.journal.driver import Presence
from turnwright.journal.durations import human

AGENTS_TOLD_MAX = 200
REDUCER = "reducer"
SLOTS = "slots"
SEALS = "seals"
FULL = "full"
ANY = "*"
AWAY_SINCE_US = "temporal_away_since_us"
NOBODY = "no worker is alive"
START_ONE = "start one with `turnwright worker`"

Obstacle = Literal["no_worker", "agent_unknown", "tool_unknown", "older_workers", "temporal_away", "busy"]


@dataclass(frozen=True, slots=True)
class Due:
    """What is to be done next, in words, and what that takes.

    `reducer`: the version that wrote the thread. `serving`: presences that are in touch with the journal's Temporal;
    None: that was not looked at. `calls`: it is a model call or a tool call, of which a worker runs so many at a time.
    """

    todo: str
    agent: str
    now_us: int
    tools: frozenset[str] = frozenset()
    reducer: int = 0
    serving: frozenset[str] | None = None
    calls: bool = False


@dataclass(frozen=True, slots=True)
class Hindered:
    """Why no worker does it, as a sentence, and since when."""

    code: Obstacle
    text: str
    since_us: int | None = None


def hindered(due: Due, presences: Iterable[Presence]) -> Hindered | None:
    """What keeps all workers from it; None: one could do it."""
    left: Sequence[Presence] = tuple(presences)
    for rule in _RULES:
        found = rule(due, left)
        if isinstance(found, Hindered):
            return found
        left = found
    return None


def known_agents(presences: Iterable[Presence]) -> frozenset[str] | None:
    """The agents that live workers know; None: one of them does not say, or not all of them."""
    return _together([_agents(presence) for presence in _living(presences)])


def worker_words(presence: Presence) -> str:
    """A worker as entries name it, and as whoever started it knows it."""
    known = {name: presence.info.get(name) for name in ("label", "pid")}
    told = " ".join(str(value) for value in (known["label"], known["pid"] and f"process {known['pid']}") if value)
    return f"{presence.presence_id} ({told})" if told else presence.presence_id


# -- the rules, in their order ---------------------------------------------------------------------

_Passed: TypeAlias = Sequence[Presence] | Hindered


def _alive(due: Due, workers: Sequence[Presence]) -> _Passed:
    text = f"{NOBODY.capitalize()} to {due.todo}; {START_ONE}."
    return _living(workers) or Hindered("no_worker", text)


def _any_in_touch(due: Due, workers: Sequence[Presence]) -> _Passed:
    """While none of them reaches Temporal it matters little what they know."""
    against = (found for rule in (_reaching_temporal, _serving) if isinstance(found := rule(due, workers), Hindered))
    return next(against, workers)


def _with_agent(due: Due, workers: Sequence[Presence]) -> _Passed:
    passed = [one for one in workers if (agents := _agents(one)) is None or due.agent in agents]
    others = ", ".join(sorted(known_agents(workers) or ())) or "none"
    text = f"No live worker knows the agent {due.agent} to {due.todo}; the agents they know: {others}."
    return passed or Hindered("agent_unknown", text)


def _with_tool(due: Due, workers: Sequence[Presence]) -> _Passed:
    """One of several calls is enough, if others can run the rest; a thread keeps the tools it was opened with."""
    told = [(one, _tools(one, due.agent)) for one in workers]
    known = _together([tools for _, tools in told])
    missing = frozenset[str]() if known is None else due.tools - _had(due.tools, known)
    if missing:
        tools = ", ".join(sorted(missing))
        text = f"No live worker's agent {due.agent} has the tool {tools} to {due.todo}; start one that has."
        return Hindered("tool_unknown", text)
    return [one for one, tools in told if not due.tools or tools is None or _had(due.tools, tools)]


def _had(wanted: frozenset[str], told: frozenset[str]) -> frozenset[str]:
    """Those of the tools that are among what a worker tells: names, and beginnings of names, with a `*` behind, of
    what it lists from elsewhere.
    """
    beginnings = tuple(name.removesuffix(ANY) for name in told if name.endswith(ANY))
    return frozenset(name for name in wanted if name in told or (beginnings and name.startswith(beginnings)))


def _of_its_version(due: Due, workers: Sequence[Presence]) -> _Passed:
    """One that does not say, as 0.1.0 does not, counts as able to."""
    passed = [one for one in workers if _number(one, REDUCER, due.reducer) >= due.reducer]
    text = (
        f"Workers live, but none can {due.todo}: they are of an older version ({_listed(workers)}) and leave alone "
        "what a newer one wrote; stop them, and a newer worker, which waits for that, begins."
    )
    return passed or Hindered("older_workers", text)


def _reaching_temporal(due: Due, workers: Sequence[Presence]) -> _Passed:
    since = {one.presence_id: _number(one, AWAY_SINCE_US, 0) for one in workers}
    passed = [one for one in workers if not since[one.presence_id]]
    if passed:
        return passed
    since_us = max(since.values())
    away = human(max(0, due.now_us - since_us))
    text = (
        f"Workers live, but none can {due.todo}: they have not reached Temporal for {away}; "
        "start it, or see whether it is where their settings say."
    )
    return Hindered("temporal_away", text, since_us)


def _serving(due: Due, workers: Sequence[Presence]) -> _Passed:
    passed = [one for one in workers if due.serving is None or one.presence_id in due.serving]
    text = f"Workers live, but none can {due.todo}: they wait for Temporal, and say why in their logs (`waiting`)."
    return passed or Hindered("temporal_away", text)


def _with_room(due: Due, workers: Sequence[Presence]) -> _Passed:
    passed = [one for one in workers if not (due.calls and one.info.get(FULL) is True)]
    slots = sum(_number(one, SLOTS, 0) for one in workers)
    text = (
        f"Every worker that could {due.todo} is busy: {slots} of {slots} calls run (`max_concurrent_activities`); "
        "it comes when one of them ends, or start another worker."
    )
    return passed or Hindered("busy", text)


_RULES: tuple[Callable[[Due, Sequence[Presence]], _Passed], ...] = (
    _alive, _any_in_touch, _with_agent, _with_tool, _of_its_version, _reaching_temporal, _serving, _with_room,
)  # fmt: skip


# -- what workers tell -----------------------------------------------------------------------------


def _living(presences: Iterable[Presence]) -> list[Presence]:
    return [presence for presence in presences if presence.liveness.state == "alive"]


def _listed(workers: Iterable[Presence]) -> str:
    return ", ".join(map(worker_words, workers))


def _together(told: Collection[frozenset[str] | None]) -> frozenset[str] | None:
    known = [names for names in told if names is not None]
    return frozenset[str]().union(*known) if len(known) == len(told) else None


def _tools(presence: Presence, agent: str) -> frozenset[str] | None:
    """The tools a worker says the agent has; None: it does not say."""
    tools = presence.info.get("tools")
    return frozenset(map(str, tools.get(agent, ()))) if isinstance(tools, Mapping) else None


def _agents(presence: Presence) -> frozenset[str] | None:
    agents = presence.info.get("agents")
    if not isinstance(agents, list | tuple) or len(agents) >= AGENTS_TOLD_MAX:
        return None
    return frozenset(map(str, agents))


def _number(presence: Presence, name: str, without: int) -> int:
    told = presence.info.get(name)
    return told if isinstance(told, int) else without
