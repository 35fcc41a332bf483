"""What an administrator does to a thread: permissions, budgets, its state, its entries.

Rule: an accepted command is in the journal as an entry, with who and why, like everything else.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal, Unpack

from turnwright.client.access import How, HowElse
from turnwright.client.errors import NotFound
from turnwright.client.rule_texts import change_of, needs_lookup
from turnwright.client.spending import ThreadSpending, budget_of, thread_spending
from turnwright.client.thread_handle import ThreadHandle
from turnwright.journal.budgets import Budget
from turnwright.journal.commands import (
    ClearContext,
    CompactThread,
    EraseEntry,
    Receipt,
    SetBudget,
    SetPermissions,
    UpdateState,
)
from turnwright.journal.state_parts import Mode, PermissionState


class ThreadAdmin(ThreadHandle):
    """The part of a thread that is for administrators."""

    async def permissions(self) -> PermissionState:
        """What the agent may do unasked. They are the agent's own once the thread's first turn has started."""
        return (await self.status()).control.permissions

    async def set_permissions(
        self,
        *,
        mode: Mode | None = None,
        allow: Sequence[str] = (),
        ask: Sequence[str] = (),
        deny: Sequence[str] = (),
        remove: Sequence[str] = (),
        working_directories: Sequence[str] | None = None,
        **how: Unpack[How],
    ) -> Receipt:
        """Change what the agent may do; what is not named stays. Less is possible always, more while no turn runs.

            await thread.set_permissions(mode="accept_edits", allow=["shell(prefix:git status)"], remove=["refund"])

        Args:
            mode: `default`, `accept_edits`, `explore`, `bypass` or `dont_ask`.
            allow: rules to add, such as `refund`, `refund(amount=1*)`, `shell(prefix:git)`, `edit(path:src/**)`.
            ask: rules to add.
            deny: rules to add.
            remove: rules to take away, wherever they stand; with a request id of your own say where, as in
                `deny refund`: it is part of what you repeat.
            working_directories: absolute paths, all of them; the first is what relative paths are relative to.
            **how: see `How`.

        Raises:
            InvalidInput: a rule cannot be read.
            CommandRejected: `turn_active`, `not_opened`, `bad_permissions`.
        """
        request_id, principal, reason = self._access.said(how)
        current = await self._known_permissions() if needs_lookup(remove) else PermissionState()
        change = change_of(
            current,
            f"person:{principal}",
            mode=mode,
            rules={"allow": allow, "ask": ask, "deny": deny},
            remove=remove,
            working_directories=working_directories,
        )
        command = SetPermissions(request_id=request_id, principal=principal, reason=reason, change=change)
        return await self._command(command, how)

    async def budget(self) -> ThreadSpending:
        """What the thread, and its turns, may use and have used. Raises `NotFound`."""
        return thread_spending((await self.status()).control)

    async def set_budget(
        self,
        budget: Budget | None,
        *,
        scope: Literal["thread", "turns"] = "thread",
        keep: bool = False,
        **how: Unpack[How],
    ) -> Receipt:
        """Say what the thread, or each of its `turns` without a budget of its own, may use; None: as much as they like.

        What is left out of the budget is without bound, or with `keep` as it is. A turn that waits for more goes on if
        that is enough.
        """
        request_id, principal, reason = self._access.said(how)
        wanted = budget_of(budget, keep=keep)
        command = SetBudget(request_id=request_id, principal=principal, reason=reason, scope=scope, budget=wanted)
        return await self._command(command, how)

    async def update_state(
        self, changes: Mapping[str, Any], *, expected_seq: int, reason: str, **how: Unpack[HowElse]
    ) -> Receipt:
        """Replace fields of the state, whole: `context`, `summary`, `plan`, `tasks`, `tools`.

        Args:
            changes: the new values by name.
            expected_seq: `as_of_seq` of the state that was read.
            reason: why, for the records.
            **how: see `HowElse`.

        Raises:
            CommandRejected: `stale_seq` (something was written since), `turn_active`, `open_calls`, `reason_required`
                (it is empty), `invalid_changes`.
        """
        said: How = {**how, "reason": reason}
        request_id, principal, _ = self._access.said(said)
        command = UpdateState(
            request_id=request_id,
            principal=principal,
            reason=reason,
            expected_seq=expected_seq,
            changes=dict(changes),
        )
        return await self._command(command, said)

    async def clear_context(self, *, expected_seq: int | None = None, **how: Unpack[How]) -> Receipt:
        """Begin the conversation anew; the history stays, and so do permissions, tasks, plan and tools.

        Raises:
            CommandRejected: `stale_seq` (of an `expected_seq`), `turn_active`.
        """
        request_id, principal, reason = self._access.said(how)
        command = ClearContext(request_id=request_id, principal=principal, reason=reason, expected_seq=expected_seq)
        return await self._command(command, how)

    async def compact(self, **how: Unpack[How]) -> Receipt:
        """Let long results and the oldest messages give way with the next model call, however long the conversation is.

        Until that call the state says so (`compaction.requested_seq`), and if it brought nothing, why
        (`compaction.reason`); the conversation is unchanged then, and it is not tried again.

        Raises:
            CommandRejected: `unknown_thread`, `nothing_to_compact`, `already_requested`.
        """
        request_id, principal, reason = self._access.said(how)
        return await self._command(CompactThread(request_id=request_id, principal=principal, reason=reason), how)

    async def erase(self, seq: int, **how: Unpack[How]) -> Receipt:
        """Erase the content of an entry for good; that it was there stays, and the chain still verifies.

        Raises:
            CommandRejected: `unknown_thread`, `unknown_session` (it was deleted), `unknown_entry`, `not_erasable`.
        """
        request_id, principal, reason = self._access.said(how)
        command = EraseEntry(request_id=request_id, principal=principal, reason=reason, seq=seq)
        return await self._command(command, how)

    async def _known_permissions(self) -> PermissionState:
        try:
            return await self.permissions()
        except NotFound:
            return PermissionState()  # the command will be rejected for that
