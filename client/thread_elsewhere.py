"""A thread's conversation from elsewhere, and for elsewhere."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any, Final, Literal, TypeAlias, Unpack, get_args

from turnwright.client.access import How, checked
from turnwright.client.bringing import Brought, WantedConversation
from turnwright.client.inputs import one_of
from turnwright.client.thread_handle import ThreadHandle
from turnwright.journal.elsewhere import Dialect, Format, to_agentscope
from turnwright.journal.messages import media_of

TheirForm: TypeAlias = Literal["agentscope", "agentscope-java", "agentscope-python"]
_DIALECTS: Final[Mapping[TheirForm, Dialect | None]] = {
    "agentscope": None, "agentscope-java": "java", "agentscope-python": "python",
}  # fmt: skip


class ThreadElsewhere(ThreadHandle):
    """The part of a thread that other systems' documents become, and that becomes one."""

    async def import_conversation(
        self,
        form: Format,
        document: str | bytes | Mapping[str, Any] | list[Any],
        *,
        time_zone: str | None = None,
        trust_permissions: bool = False,
        **how: Unpack[How],
    ) -> Brought:
        """Begin the thread with a conversation from elsewhere; the next turn goes on from it. It starts nothing.

        Args:
            form: `agentscope` (an `AgentState`), `openai` (chat messages) or `anthropic` (messages).
            document: JSON, or what it stands for.
            time_zone: that of times in it that name none, such as `Europe/Berlin` or `+08:00`.
            trust_permissions: take also what its permissions allow; for operators.
            **how: see `How`.

        Raises:
            InvalidInput: it cannot be read; says where and why.
            CommandRejected: `unknown_session`, `session_closed`, `thread_exists`, `invalid_state`,
                `request_id_reused`.
        """
        request_id, principal, reason = self._access.said(how)
        wanted = WantedConversation(
            one_of("form", form, get_args(Format)), document, time_zone, trust_permissions=trust_permissions
        )
        brought = await self._access.backend.bring(self.key, wanted, request_id, principal, reason)
        checked(brought.receipt, check=how.get("check", True), key=self.key)
        return brought

    async def export_conversation(self, form: TheirForm = "agentscope") -> dict[str, Any]:
        """What the agent knows, as the `AgentState` of AgentScope; what a document held beside it comes back in it.

        Args:
            form: `agentscope`: as it came from there, or of AgentScope Java; or `agentscope-java`, `agentscope-python`.

        Raises:
            NotFound: there is no such thread.
        """
        dialect = _DIALECTS[one_of("form", form, get_args(TheirForm))]
        await self.status()
        backend = self._access.backend
        state = await backend.state(self.key, None)
        blobs: dict[str, bytes] = {}
        for sha in sorted(set(media_of(state.context))):
            body = await backend.blob(self.key.session_key, sha)
            if body is not None:
                blobs[sha] = body
        return await asyncio.to_thread(to_agentscope, state, blobs, dialect)
