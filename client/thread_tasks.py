"""What a trusted caller settles about a thread's work: its task, what was proposed, what was checked.

Rule: none of this completes a turn, and a tool may do none of it. It may be done at any time.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, Unpack

from turnwright.client.access import How
from turnwright.client.inputs import one_of
from turnwright.client.thread_handle import ThreadHandle
from turnwright.journal.commands import ChangeState, Receipt
from turnwright.journal.state_ops import (
    AddVerification,
    BeginTask,
    DeactivateGroups,
    DecideObjective,
    DecideRequirement,
    StateOp,
    WriteMemory,
)
from turnwright.journal.state_parts import MemoryState

_VERDICTS = ("confirmed", "rejected")


class ThreadTasks(ThreadHandle):
    """The part of a thread that is about its work. Each raises `CommandRejected` with `refused` and says why."""

    async def begin_task(self, objective: str, requirements: Sequence[str] = (), **how: Unpack[How]) -> Receipt:
        """Begin anew: this objective and these requirements, confirmed; no todo, nothing verified."""
        return await self._change(BeginTask(objective=objective, requirements=tuple(requirements)), how)

    async def decide_objective(self, verdict: Literal["confirmed", "rejected"], **how: Unpack[How]) -> Receipt:
        """Confirm or reject the objective that was proposed."""
        one_of("verdict", verdict, _VERDICTS)
        return await self._change(DecideObjective(verdict=verdict), how)

    async def decide_requirement(
        self, requirement_id: str, verdict: Literal["confirmed", "rejected"], **how: Unpack[How]
    ) -> Receipt:
        """Confirm or reject a requirement; `reason` is kept with it."""
        one_of("verdict", verdict, _VERDICTS)
        op = DecideRequirement(id=requirement_id, verdict=verdict, reason=how.get("reason"))
        return await self._change(op, how)

    async def add_verification(
        self, requirement_id: str, *, passed: bool, summary: str, subject: str = "", **how: Unpack[How]
    ) -> Receipt:
        """Record what an explicit check found about a requirement; `subject` is what was checked, such as a commit."""
        op = AddVerification(requirement=requirement_id, passed=passed, summary=summary, subject=subject)
        return await self._change(op, how)

    async def memory(self) -> MemoryState:
        """The memory document, which is part of every request of the thread. Raises `NotFound`."""
        await self.status()
        return (await self._access.backend.state(self.key, None)).memory

    async def write_memory(self, document: str, *, expected_revision: int | None = None, **how: Unpack[How]) -> Receipt:
        """Replace the memory document; with `expected_revision` only if nothing changed since."""
        return await self._change(WriteMemory(document=document, expected_revision=expected_revision), how)

    async def deactivate_groups(self, *groups: str, **how: Unpack[How]) -> Receipt:
        """Offer these groups of tools to the model no longer."""
        return await self._change(DeactivateGroups(groups=groups), how)

    async def _change(self, op: StateOp, how: How) -> Receipt:
        request_id, principal, reason = self._access.said(how)
        command = ChangeState(request_id=request_id, principal=principal, reason=reason, op=op)
        return await self._command(command, how)
