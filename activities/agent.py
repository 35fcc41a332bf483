"""Agents: a model, instructions and tools under one name.

Rule: an agent is checked when it is made, so a worker that starts can run it. What a thread pins is its
`definition`, which is data; the code of its tools stays here.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from pydantic import ValidationError

from turnwright.activities.agent_tools.results import read_result
from turnwright.activities.memory import MemorySource
from turnwright.activities.permissions import Permissions
from turnwright.activities.sources.port import ToolSource
from turnwright.activities.subagents import Subagent
from turnwright.activities.tools import Tool
from turnwright.journal.agents import AgentDefinition, ApprovalTerms, ContextPolicy, Limits
from turnwright.journal.canonical import encode
from turnwright.journal.context.stubs import READ_RESULT
from turnwright.journal.errors import InvalidInput
from turnwright.journal.ids import checked_part


@dataclass(frozen=True, slots=True)
class Agent:
    """An agent as a worker knows it.

    `model` is a name of pydantic-ai's (`openai:…`, `anthropic:…`), `scripted:…`, or, with `base_url`, what
    an OpenAI-compatible server calls its model. `model_settings` go to the model as they are. `permissions` say
    which calls run unasked (by default those that only read), `approvals` how long a person has to answer, `context`
    what gives way when a conversation is too long; an agent with a window can read back what was set aside. Among
    `tools` may be sources of further ones, such as an `McpServer`. `memory` is asked before each model call what the
    model is to remember, beside the thread's own memory document. For each of its `subagents` it has a tool that gives
    it a task.

    With `titles` a session without one is called by the first words said in it, or as a model says; with `summaries` a
    model keeps a short one of it, both after turns and beside them.

    Raises:
        InvalidInput: two tools share a name, or something is not what it must be.
    """

    name: str
    model: str
    instructions: str = ""
    tools: Sequence[Tool[..., Any] | ToolSource] = ()
    limits: Limits = field(default_factory=Limits)
    model_settings: Mapping[str, Any] = field(default_factory=dict)
    base_url: str | None = None
    permissions: Permissions = field(default_factory=Permissions)
    approvals: ApprovalTerms = field(default_factory=ApprovalTerms)
    context: ContextPolicy = field(default_factory=ContextPolicy)
    memory: MemorySource | None = None
    titles: Literal["words", "model"] | None = None
    summaries: bool = False
    subagents: Sequence[Subagent] = ()
    _own: tuple[Tool[..., Any], ...] = field(init=False, repr=False, compare=False)
    _sources: Mapping[str, ToolSource] = field(init=False, repr=False, compare=False)
    _definition: AgentDefinition = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        """Check everything, once."""
        checked_part("agent name", self.name)
        if not self.model or not isinstance(self.model, str):
            raise InvalidInput(f"agent {self.name}: model must be a name such as 'openai:gpt-5', got {self.model!r}")
        if not isinstance(self.permissions, Permissions):
            raise InvalidInput(f"agent {self.name}: permissions must be Permissions(...), got {self.permissions!r}")
        if self.memory is not None and not callable(self.memory):
            raise InvalidInput(f"agent {self.name}: memory must be a function of a RequestContext, got {self.memory!r}")
        tools = [*self._with_read_result(), *self._for_subagents()]
        object.__setattr__(self, "tools", tuple(tools))
        object.__setattr__(self, "_sources", _checked_sources(self.name, tools))
        object.__setattr__(self, "_own", _checked_tools(self.name, tools))
        object.__setattr__(self, "_definition", self._defined())

    @property
    def definition(self) -> AgentDefinition:
        """What a thread pins when it is opened with this agent."""
        return self._definition

    @property
    def sources(self) -> Mapping[str, ToolSource]:
        """What further tools come from, by name."""
        return self._sources

    @property
    def tool_names(self) -> tuple[str, ...]:
        """The names of its own tools, and what those of its sources begin with, with a `*` behind."""
        return (*(tool.name for tool in self._own), *(source.terms.names for source in self._sources.values()))

    def tool(self, name: str) -> Tool[..., Any] | None:
        """The tool of that name, if the agent has it as its own."""
        return next((tool for tool in self._own if tool.name == name), None)

    def _with_read_result(self) -> Sequence[Tool[..., Any] | ToolSource]:
        bounded = self.context.window_tokens is not None
        has_it = any(isinstance(tool, Tool) and tool.name == READ_RESULT for tool in self.tools)
        return [*self.tools, read_result] if bounded and not has_it else self.tools

    def _for_subagents(self) -> list[Tool[..., Any]]:
        for subagent in self.subagents:
            if not isinstance(subagent, Subagent):
                raise InvalidInput(f"agent {self.name}: {subagent!r} is no subagent; write Subagent(...)")
        return [subagent.tool for subagent in self.subagents]

    def _defined(self) -> AgentDefinition:
        settings = _copied(self.name, self.model_settings)
        try:
            return AgentDefinition(
                name=self.name,
                model=self.model,
                instructions=self.instructions,
                tools=tuple(tool.spec for tool in self._own),
                limits=self.limits,
                model_settings=settings,
                base_url=self.base_url,
                permissions=self.permissions.state,
                approvals=self.approvals,
                context=self.context,
                recalls=self.memory is not None,
                sources=tuple(self._sources),
            )
        except ValidationError as error:
            wrong = error.errors(include_url=False)[0]
            field_name = ".".join(str(part) for part in wrong["loc"])
            raise InvalidInput(f"agent {self.name}: {field_name}: {wrong['msg']}") from error


def _checked_sources(agent: str, tools: Sequence[Tool[..., Any] | ToolSource]) -> Mapping[str, ToolSource]:
    sources = [tool for tool in tools if not isinstance(tool, Tool) and isinstance(tool, ToolSource)]
    twice = [name for name, count in Counter(source.terms.name for source in sources).items() if count > 1]
    if twice:
        raise InvalidInput(f"agent {agent}: several sources of tools are called {', '.join(twice)}; rename one")
    return {source.terms.name: source for source in sources}


def _what_to_do(tool: object) -> str:
    toolset = hasattr(tool, "get_tools") and hasattr(tool, "call_tool")
    return "give the toolset a name: Toolset(name, toolset)" if toolset else "decorate the function with @tool"


def _checked_tools(agent: str, tools: Sequence[Tool[..., Any] | ToolSource]) -> tuple[Tool[..., Any], ...]:
    own = []
    for tool in tools:
        if isinstance(tool, Tool):
            own.append(tool)
        elif not isinstance(tool, ToolSource):
            raise InvalidInput(f"agent {agent}: {tool!r} is not a tool; {_what_to_do(tool)}")
    twice = [name for name, count in Counter(tool.name for tool in own).items() if count > 1]
    if twice:
        raise InvalidInput(f"agent {agent}: several tools are called {', '.join(twice)}; rename one with name=")
    return tuple(own)


def _copied(agent: str, settings: Mapping[str, Any]) -> dict[str, Any]:
    try:
        copied: dict[str, Any] = json.loads(encode(dict(settings)))
    except (TypeError, ValueError) as error:
        raise InvalidInput(f"agent {agent}: model_settings are pinned as JSON, and these are not: {error}") from error
    return copied
