"""What the task is for and what its result must satisfy, as far as a model may say.

Rule: a model proposes. Who answers for the result confirms or rejects, and then no tool changes it.
"""

from __future__ import annotations

from turnwright.activities.tool_results import Changed
from turnwright.activities.tools import tool
from turnwright.journal.state_ops import ProposeObjective, ProposeRequirement


@tool(effect="read")
async def propose_objective(text: str) -> Changed:
    """Propose what the task is for, in a sentence or two; the user confirms or rejects it.

    Args:
        text: The objective as you understand it. It replaces one that is not confirmed yet.
    """
    return Changed(ProposeObjective(text=text), says="The objective is proposed.")


@tool(effect="read")
async def propose_requirement(text: str, id: str | None = None) -> Changed:  # noqa: A002 - the word a model knows
    """Propose something the result must satisfy; the user confirms or rejects it.

    Args:
        text: The requirement: one thing that can be checked.
        id: Of a requirement that is still proposed, to reword it; leave it out for a new one.
    """
    says = "The requirement is proposed." if id is None else f"Requirement {id} is reworded."
    return Changed(ProposeRequirement(text=text, id=id), says=says)
