"""Whether the models of agents can be made at all: a name nobody knows, a key or a package that is missing.

Rule: nothing is sent. It tells at a worker's start what else is noticed only when a turn fails.
"""

from __future__ import annotations

import importlib
from collections.abc import Iterable
from typing import cast

from turnwright.activities.agent import Agent
from turnwright.activities.models.scripted import SCRIPTED_PREFIX


def find_unmakeable(agents: Iterable[Agent]) -> dict[str, str]:
    """Why the models of these agents cannot be made, by the agent's name; it loads SDKs, so call it in a thread."""
    found = {agent.name: _reason(agent) for agent in agents if not agent.model.startswith(SCRIPTED_PREFIX)}
    return {name: reason for name, reason in found.items() if reason}


def _reason(agent: Agent) -> str:
    clients = importlib.import_module("turnwright.activities.models.clients")
    failures = importlib.import_module("turnwright.activities.models.failures")
    try:
        clients.make_model(clients.Key(agent.model, agent.base_url))
    except Exception as error:  # noqa: BLE001 - whatever a provider's SDK says of its configuration
        said = " ".join(cast("str", failures.message_of(error)).split())
        return f"model {agent.model!r} cannot be made: {said}"
    return ""
