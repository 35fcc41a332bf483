"""The agents a worker knows, and how it finds them by a name such as `shop.agents:registry`.

Rule: a mistake here stops the worker at its start and says what to write instead. An agent that is
missing makes turns wait, which is much harder to notice.
"""

from __future__ import annotations

import importlib
import inspect
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from turnwright.activities.agent import Agent
from turnwright.activities.broken_agents import broken
from turnwright.activities.tools import Tool
from turnwright.journal.errors import InvalidInput


class Registry:
    """Agents by name; fixed once made."""

    def __init__(self, agents: Iterable[Agent] = ()) -> None:
        self._agents: dict[str, Agent] = {}
        for agent in agents:
            if not isinstance(agent, Agent):
                raise InvalidInput(f"a registry holds agents, got {agent!r}; pass Agent(...)")
            if agent.name in self._agents:
                raise InvalidInput(f"two agents are called {agent.name!r}; rename one")
            self._agents[agent.name] = agent

    def get(self, name: str) -> Agent | None:
        """The agent of that name, if this worker knows it."""
        return self._agents.get(name)

    def tool(self, agent: str, name: str) -> Tool[..., Any] | None:
        """The tool of that agent, if this worker knows both."""
        known = self._agents.get(agent)
        return None if known is None else known.tool(name)

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the agents."""
        return tuple(self._agents)

    @property
    def unknown_subagents(self) -> dict[str, tuple[str, ...]]:
        """Agents by name, with those they give tasks to that are not here; another worker may know them."""
        missing = {a.name: tuple(s.agent for s in a.subagents if s.agent not in self._agents) for a in self}
        return {name: agents for name, agents in missing.items() if agents}

    def __iter__(self) -> Iterator[Agent]:
        return iter(self._agents.values())

    def __len__(self) -> int:
        return len(self._agents)

    def __contains__(self, name: object) -> bool:
        return name in self._agents


def load_registry(target: str) -> Registry:
    """The registry at `package.module:attribute`.

    The attribute may be a Registry, an Agent, a list of Agents, or a function without arguments that
    returns one of these.

    Raises:
        AgentsBroken: the module, or the function, raised; a note holds the frames of its author's code.
        InvalidInput: there is no such thing there; says what was found instead.
    """
    module_name, colon, attribute = target.partition(":")
    if not (module_name and colon and attribute):
        raise InvalidInput(f"{target!r} names no agents; write package.module:attribute, such as shop.agents:registry")
    found: Any = _module(module_name, target)
    for part in attribute.split("."):
        if not hasattr(found, part):
            raise InvalidInput(f"{target!r}: module {module_name} has no {attribute!r}")
        found = getattr(found, part)
    return _registry(_made(found, target) if _is_factory(found) else found, target)


def _module(name: str, target: str) -> Any:  # noqa: ANN401 - a module
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError as error:
        if error.name is None or not f"{name}.".startswith(f"{error.name}."):
            raise broken(target, error) from error  # it misses an import of its own
        raise InvalidInput(
            f"{target!r}: there is no module {error.name}; is its folder on the path, or PYTHONPATH?"
        ) from error
    except (Exception, SystemExit) as error:
        raise broken(target, error) from error


def _made(factory: Callable[[], Any], target: str) -> Any:  # noqa: ANN401 - whatever it returns
    try:
        inspect.signature(factory).bind()
    except TypeError as error:
        raise InvalidInput(f"{target!r} cannot be called without arguments: {error}") from None
    try:
        return factory()
    except (Exception, SystemExit) as error:
        raise broken(target, error) from error


def _is_factory(found: Any) -> bool:  # noqa: ANN401 - whatever stands there
    return callable(found) and not isinstance(found, Registry | Agent)


def _registry(found: Any, target: str) -> Registry:  # noqa: ANN401 - whatever stands there
    match found:
        case Registry():
            return found
        case Agent():
            return Registry([found])
        case list() | tuple() | set() | frozenset():
            return Registry(found)
        case _:
            raise InvalidInput(
                f"{target!r} is a {type(found).__name__}; it must be a Registry, an Agent or a list of Agents"
            )
