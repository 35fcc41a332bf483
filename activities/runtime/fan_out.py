"""A session's control reaches its threads: each that has turns is woken and looks for itself."""

from __future__ import annotations

import json

from turnwright.activities.runtime.parts import Parts
from turnwright.journal.ids import SessionKey
from turnwright.workflows.payloads import FannedOut, SessionInput

PAGE_THREADS_MAX = 50


async def fan_out_session(parts: Parts, given: SessionInput) -> FannedOut:
    """Wake the next page of threads that have an active or queued turn."""
    key = SessionKey(*json.loads(given.session))
    page = await parts.journal.busy_threads(key, given.after_thread, PAGE_THREADS_MAX)
    for thread in page.values():
        await parts.waker.thread(thread)
    more = len(page) == PAGE_THREADS_MAX
    return FannedOut(max(page) if more else 0, len(page))
