"""The routes about the machinery: who works, what nobody carries on, how much there is, and whether it is proven.

Rule: for operators. Workers serve every tenant and are shown as such; of everything else only the tenant's own is seen.
What reads much stands on a route of its own, asked for when somebody wants to know.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Literal

from turnwright.client.errors import NotFound
from turnwright.client.gateway.desk import AskedSession, AskedThread, AtDesk, Desk, WhoAsks, guarded_router
from turnwright.client.session import Session
from turnwright.journal.driver import Presence
from turnwright.journal.durations import SECOND_US
from turnwright.journal.ids import SessionKey, ThreadKey, tenant_prefix
from turnwright.journal.script import Script, rows
from turnwright.journal.store import Journal
from turnwright.journal.store_verify import verify
from turnwright.journal.transact.rows import clock
from turnwright.journal.transact.statistics import count_live, count_tenant
from turnwright.journal.transact.sweeping import Glance, Page, Why, find_stalled, find_unreadable
from turnwright.journal.transact.walking import Finding
from turnwright.journal.why import QUIET_S
from turnwright.workflows.ids import session_workflow_id, thread_workflow_id, turn_workflow_id

DAY_US = 86_400 * SECOND_US
LOOK_THREADS = 500
LOOKS_MAX = 4
STALLED_SHOWN_MAX = 100
FINDINGS_SHOWN_MAX = 100

router = guarded_router("system")


@dataclass(frozen=True, slots=True)
class Worker:
    """A process that serves the journal, or did so just now. What it did not say is None.

    Without a beat for `lease_s` it counts as frozen.
    """

    presence_id: str
    liveness: Literal["alive", "lapsed", "dead"]
    beat_age_s: float | None
    lease_s: float | None = None
    label: str | None = None
    pid: int | None = None
    host: str | None = None
    version: str | None = None
    started: str | None = None
    task_queue: str | None = None
    engine: str | None = None
    agents: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Orphan:
    """A thread with work that nobody carries on, for `why`; `wakes`: how often it was woken in vain."""

    key: ThreadKey
    turn_id: str | None
    seq: int
    why: Why
    wakes: int


@dataclass(frozen=True, slots=True)
class Unreadable:
    """A thread with work whose control cannot be read."""

    key: ThreadKey
    seq: int
    error: str


@dataclass(frozen=True, slots=True)
class System:
    """The machinery at one moment.

    `live` counts turns that have not ended and open questions. `more`: not all threads with work were looked at.
    `temporal_ui` is where Temporal's own page shows the namespace, if the gateway was told.
    """

    now_us: int
    journal_id: str
    store: Literal["sqlite", "postgres"]
    schema_version: int
    workers: tuple[Worker, ...]
    live: Mapping[str, int]
    orphans: tuple[Orphan, ...]
    unreadable: tuple[Unreadable, ...]
    more: bool
    temporal_ui: str | None


@dataclass(frozen=True, slots=True)
class Workflows:
    """The ids under which Temporal knows a thread; the turn is its active one."""

    session: str
    thread: str
    turn: str | None
    temporal_ui: str | None


@dataclass(slots=True)
class Proven:
    """A session that was read from its first entry to its last."""

    threads: int = 0
    entries: int = 0
    erased: int = 0
    findings: list[Finding] = field(default_factory=list)


@router.get("/system")
async def see_system(caller: WhoAsks, desk: AtDesk) -> System:
    """Workers, the tenant's work and what nobody carries on."""
    caller.needs("operator")
    return await desk.readings.take(("system", caller.tenant), lambda: _seen(desk, caller.tenant))


async def _seen(desk: Desk, tenant: str) -> System:
    journal = desk.journal
    now_us, engines = await journal.driver.read(_now_and_engines)
    stalled, more = await _stalled(journal)
    unreadable = await journal.driver.read(lambda: find_unreadable(0, LOOK_THREADS))
    mine = [one for page in stalled for one in page.suspects if one.key.tenant == tenant]
    return System(
        now_us=now_us,
        journal_id=await journal.journal_id(),
        store=journal.driver.dialect,
        schema_version=await journal.driver.schema_version(),
        workers=tuple(_worker(one, engines) for one in await journal.driver.presences()),
        live=await journal.driver.read(lambda: count_live(tenant)),
        orphans=tuple(Orphan(one.key, one.turn_id, one.seq, one.why, one.wakes) for one in mine[:STALLED_SHOWN_MAX]),
        unreadable=tuple(
            Unreadable(ThreadKey.parse(one.key), one.seq, one.error)
            for one in unreadable.broken
            if one.key.startswith(tenant_prefix(tenant))
        ),
        more=more or len(mine) > STALLED_SHOWN_MAX or unreadable.after is not None,
        temporal_ui=desk.settings.temporal_ui,
    )


@router.get("/system/journal")
async def measure_journal(caller: WhoAsks, desk: AtDesk) -> dict[str, int]:
    """How much the tenant has in the journal, by name; bytes are those of entries. `turns_new`: of the last day."""
    caller.needs("operator")
    return await desk.journal.driver.read(lambda: count_tenant(caller.tenant, DAY_US))


@router.get("/sessions/{session}/proof", tags=["sessions"])
async def prove_session(caller: WhoAsks, desk: AtDesk, key: AskedSession) -> Proven:
    """Read all of a session and say what of it is not as it was written; nothing, if it is whole."""
    caller.needs("operator")
    await Session(desk.access(caller), key).status()
    proven = Proven()
    async for proof in verify(desk.journal, key):
        proven.threads += proof.of == "thread"
        proven.entries += proof.entries
        proven.erased += proof.erased
        proven.findings += proof.findings[: FINDINGS_SHOWN_MAX - len(proven.findings)]
    return proven


@router.get("/sessions/{session}/threads/{agent}/{thread}/workflows", tags=["threads"])
async def name_workflows(caller: WhoAsks, desk: AtDesk, key: AskedThread) -> Workflows:
    """Where to look for the thread in Temporal."""
    caller.needs("operator")
    journal_id = await desk.journal.journal_id()
    row = await desk.journal.thread(key)
    if row is None:
        raise NotFound.thread(key)
    active = row.control.active
    return Workflows(
        session=session_workflow_id(journal_id, SessionKey(key.tenant, key.user, key.session)),
        thread=thread_workflow_id(journal_id, key),
        turn=None if active is None else turn_workflow_id(journal_id, key, active.turn_id),
        temporal_ui=desk.settings.temporal_ui,
    )


def _now_and_engines() -> Script[tuple[int, dict[str, str]]]:
    now_us = yield from clock()
    found = yield from rows("serving_rows")
    return now_us, {presence: engine for presence, engine in found}  # noqa: C416 - rows are tuples of anything


async def _stalled(journal: Journal) -> tuple[list[Page], bool]:
    """Looks at threads with work, and whether more of them were left; as a sweeper looks, and nothing is woken."""
    glance = Glance(stall_us=QUIET_S * SECOND_US, limit=LOOK_THREADS, afresh=True)
    pages: list[Page] = []
    after: int | None = 0
    while after is not None and len(pages) < LOOKS_MAX:
        page = await journal.driver.read(partial(find_stalled, after, glance, journal.terms))
        pages.append(page)
        after = page.after
    return pages, after is not None


def _worker(presence: Presence, engines: Mapping[str, str]) -> Worker:
    info = presence.info
    agents: Any = info.get("agents")
    lease_s: Any = info.get("lease_s")
    return Worker(
        presence_id=presence.presence_id,
        liveness=presence.liveness.state,
        beat_age_s=presence.liveness.beat_age_s,
        lease_s=lease_s if isinstance(lease_s, int | float) else None,
        label=_text(info.get("label")),
        pid=info.get("pid") if isinstance(info.get("pid"), int) else None,
        host=_text(info.get("host")),
        version=_text(info.get("version")),
        started=_text(info.get("started")),
        task_queue=_text(info.get("task_queue")),
        engine=engines.get(presence.presence_id),
        agents=tuple(map(str, agents)) if isinstance(agents, list | tuple) else (),
    )


def _text(value: object) -> str | None:
    return value if isinstance(value, str) and value else None
