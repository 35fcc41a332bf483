"""What people settled, which a document may only say of itself."""

from __future__ import annotations

from turnwright.journal.elsewhere.reading import Reading
from turnwright.journal.state_parts import Requirement, TaskState

UNTRUSTED = "is taken as proposed without trust_permissions (--trust-permissions)"


def unsettled(tasks: TaskState, place: str, reading: Reading, *, trusted: bool) -> TaskState:
    """The tasks with everything proposed and nothing verified, unless whoever brings them may settle it."""
    if trusted:
        return tasks
    changes: dict[str, object] = {}
    if tasks.objective_state != "proposed":
        reading.note(place, f"the objective, which was {tasks.objective_state}, {UNTRUSTED}")
        changes |= {"objective_state": "proposed", "objective_settled_by": None}
    settled = [one for one in tasks.requirements if one.state != "proposed"]
    for one in settled:
        reading.note(place, f"the requirement {one.id!r:.100}, which was {one.state}, {UNTRUSTED}")
    if settled:
        proposed = tuple(Requirement(id=one.id, text=one.text) for one in tasks.requirements)
        changes["requirements"] = proposed
    if tasks.verifications:
        reading.note(place, "what was verified is not taken without trust_permissions (--trust-permissions)")
        changes["verifications"] = ()
    return tasks.model_copy(update=changes)
