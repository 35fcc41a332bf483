"""The agent's list of todos.

Rule: the list is written as a whole, so what the model sees and what is kept cannot drift apart.
"""

from __future__ import annotations

from turnwright.activities.tool_results import Changed
from turnwright.activities.tools import tool
from turnwright.journal.state_ops import WriteTodos
from turnwright.journal.state_parts import Todo


@tool(effect="read")
async def todo_write(todos: list[Todo], expected_revision: int | None = None) -> Changed:
    """Write your list of todos, replacing the one before. Use it for work of several steps.

    Give every todo an id and keep it; a todo that is left out is dropped. Have one in progress at a time and
    complete it as soon as it is done. Completing todos does not finish the task.

    Args:
        todos: The whole list, in the order of the work. A dependency may stand at either end.
        expected_revision: The revision you saw; the write is refused if the list has changed since.
    """
    left = sum(todo.state != "completed" for todo in todos)
    return Changed(
        WriteTodos(todos=tuple(todos), expected_revision=expected_revision),
        says=f"The list is written: {len(todos)} todos, {left} of them open.",
    )
