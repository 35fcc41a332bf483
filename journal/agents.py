"""The pinned definition of an agent: what a thread was opened with, as data.

Rule: a definition holds no code. A worker finds the code of a tool by agent and tool name.
"""

from __future__ import annotations

from typing import Any, Final, Literal, Self

from pydantic import Field, model_validator

from turnwright.journal.authored import Authored
from turnwright.journal.messages import Frozen
from turnwright.journal.state_parts import PermissionState

DEADLINE_S_MAX: Final = 10 * 365 * 24 * 3600.0
Effect = Literal["read", "idempotent", "once"]


class Limits(Authored):
    """Bounds of one turn; over one of them the turn fails with that name as its code.

    `subagent_depth` is how many turns may stand above a child that the agent opens; a call that would open a deeper one
    gets an error the model reads.
    """

    max_steps: int = Field(default=100, ge=1)
    max_tokens: int | None = Field(default=None, ge=1)
    tool_time_s: float | None = Field(default=None, gt=0)
    model_attempts_max: int = Field(default=5, ge=1)
    subagent_depth: int = Field(default=3, ge=0)


class ContextPolicy(Authored):
    """What gives way when a conversation becomes too long for its model; `window_tokens` None: nothing does.

    Over `compact_above` of the window, tool results of more than `result_characters_max` give way to a stub they can be
    read back with, oldest first; if that is not enough, the oldest messages give way to a summary, so that about
    `compact_to` of the window is left. `summary_model` None: the agent's own model writes it.
    """

    window_tokens: int | None = Field(default=None, ge=1_000)
    compact_above: float = Field(default=0.8, gt=0, le=1)
    compact_to: float = Field(default=0.4, gt=0, le=1)
    result_characters_max: int = Field(default=8_000, ge=1_000)
    summary_tokens_max: int = Field(default=2_000, ge=100)
    summary_model: str | None = None

    @model_validator(mode="after")
    def _is_ordered(self) -> Self:
        if self.compact_to >= self.compact_above:
            raise ValueError("compact_to must be below compact_above, else each request would be compacted")
        return self


class ApprovalTerms(Authored):
    """How long a person has to approve a call, in seconds (None: for ever), and what the end of that means."""

    deadline_s: float | None = Field(default=None, gt=0, le=DEADLINE_S_MAX)
    on_expiry: Literal["expired", "approve"] = "expired"


class ToolSpec(Frozen):
    """A tool as the model and the journal know it. `parameters` is a JSON schema of type object.

    `paths` names the arguments that are file paths, `command` the one that is a shell command line; `checked`:
    the tool has a check of its own that says whether a call may run. A tool that a source has listed says which one
    (`source`), what it is called there, and the schema of what it returns, if there is one.
    """

    name: str
    description: str = ""
    parameters: dict[str, Any] = Field(default_factory=lambda: {"type": "object", "properties": {}})
    effect: Effect = "once"
    reconcilable: bool = False
    timeout_s: float = Field(default=600.0, gt=0)
    group: str | None = None
    paths: tuple[str, ...] = ()
    command: str | None = None
    checked: bool = False
    source: str | None = None
    name_there: str | None = None
    returns: dict[str, Any] | None = None


class AgentDefinition(Frozen):
    """Everything a thread pins when it is opened; `recalls`: a source of memory, whose code is a worker's.

    `sources` are what further tools come from: they list them, and each list is an entry of its own (`tools.listed`).
    """

    name: str
    model: str
    instructions: str = ""
    tools: tuple[ToolSpec, ...] = ()
    limits: Limits = Limits()
    model_settings: dict[str, Any] = Field(default_factory=dict)
    base_url: str | None = None
    permissions: PermissionState = PermissionState()
    approvals: ApprovalTerms = ApprovalTerms()
    context: ContextPolicy = ContextPolicy()
    recalls: bool = False
    sources: tuple[str, ...] = ()

    def listed(self, source: str) -> tuple[ToolSpec, ...]:
        """The tools that source has listed."""
        return tuple(tool for tool in self.tools if tool.source == source)

    def with_listed(self, source: str, tools: tuple[ToolSpec, ...]) -> AgentDefinition:
        """The definition with these tools of the source in place of those it listed before."""
        others = (tool for tool in self.tools if tool.source != source)
        return self.model_copy(update={"tools": (*others, *tools)})

    def tool(self, name: str) -> ToolSpec | None:
        """The tool of that name, if the agent has it."""
        return next((tool for tool in self.tools if tool.name == name), None)
