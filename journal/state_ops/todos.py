"""A new list of todos, checked.

Rule: ids are unique, a dependency stands at both of its ends, and no todo waits for itself, not even by
way of others. The list is taken as a whole or not at all.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from graphlib import CycleError, TopologicalSorter

from turnwright.journal.state_ops.limits import (
    ID_CHARACTERS_MAX,
    SUBJECT_CHARACTERS_MAX,
    TEXT_CHARACTERS_MAX,
    TODOS_MAX,
)
from turnwright.journal.state_ops.refusal import Refused, bounded, quoted
from turnwright.journal.state_parts import Todo

_NAMED_MAX = 20


def checked_todos(todos: Sequence[Todo]) -> tuple[Todo, ...]:
    """The todos with each dependency at both ends, in the order of the list.

    Raises:
        Refused: too many, too long, an id twice, an unknown id, or a circle.
    """
    if len(todos) > TODOS_MAX:
        raise Refused(f"{len(todos)} todos are too many; at most {TODOS_MAX} are kept. Drop completed ones.")
    for todo in todos:
        _check_texts(todo)
    ids = [todo.id for todo in todos]
    twice = [id_ for id_, count in Counter(ids).items() if count > 1]
    if twice:
        raise Refused(f"Each todo needs an id of its own; several have {_named(twice)}.")
    waits_for = _dependencies(todos)
    _check_order(waits_for)
    return tuple(
        todo.model_copy(
            update={
                "blocked_by": tuple(id_ for id_ in ids if id_ in waits_for[todo.id]),
                "blocks": tuple(id_ for id_ in ids if todo.id in waits_for[id_]),
            }
        )
        for todo in todos
    )


def _check_texts(todo: Todo) -> None:
    bounded("The id of a todo", todo.id, ID_CHARACTERS_MAX)
    bounded(f"The subject of todo {todo.id!r}", todo.subject, SUBJECT_CHARACTERS_MAX)
    bounded(f"The description of todo {todo.id!r}", todo.description, TEXT_CHARACTERS_MAX, empty=True)
    bounded(f"The owner of todo {todo.id!r}", todo.owner or "", ID_CHARACTERS_MAX, empty=True)


def _dependencies(todos: Sequence[Todo]) -> dict[str, set[str]]:
    """Of each todo, the ones it waits for, whichever end says so."""
    waits_for: dict[str, set[str]] = {todo.id: set() for todo in todos}
    unknown = [id_ for todo in todos for id_ in (*todo.blocks, *todo.blocked_by) if id_ not in waits_for]
    if unknown:
        raise Refused(
            f"blocks and blocked_by name todos that are not in the list: {_named(unknown)}. "
            "Write the whole list, with every todo that is named."
        )
    for todo in todos:
        waits_for[todo.id].update(todo.blocked_by)
        for blocked in todo.blocks:
            waits_for[blocked].add(todo.id)
    return waits_for


def _check_order(waits_for: dict[str, set[str]]) -> None:
    try:
        TopologicalSorter(waits_for).prepare()
    except CycleError as error:
        circle: list[str] = error.args[1]
        raise Refused(
            f"These todos wait for each other in a circle: {' -> '.join(circle[:_NAMED_MAX])}. Remove one dependency."
        ) from None


def _named(ids: Sequence[str]) -> str:
    distinct = list(dict.fromkeys(ids))
    more = ", …" if len(distinct) > _NAMED_MAX else ""
    return ", ".join(map(quoted, distinct[:_NAMED_MAX])) + more
