"""What a worker's activities work with."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from turnwright.activities.models.port import Model
from turnwright.activities.registry import Registry
from turnwright.activities.runtime.boundary import Boundary, pass_by
from turnwright.activities.runtime.describing import Describing
from turnwright.activities.runtime.drafting import Drafting
from turnwright.activities.runtime.places import Places
from turnwright.activities.runtime.seldom import Seldom
from turnwright.activities.runtime.settings import ActivitySettings
from turnwright.activities.runtime.surroundings import Within, nowhere
from turnwright.activities.runtime.watcher import Watcher
from turnwright.activities.sources.in_use import SourcesInUse
from turnwright.activities.tool_host import ToolHost
from turnwright.journal.store import Journal
from turnwright.workflows.waking import Waker


@dataclass(frozen=True, slots=True)
class Parts:
    """One of each, for all activities of a process.

    `presence` gives the process's presence id at the moment, or nothing while it has none: then it claims nothing.
    """

    journal: Journal
    places: Places
    waker: Waker
    registry: Registry
    models: Model
    tools: ToolHost
    watcher: Watcher
    drafting: Drafting
    describing: Describing
    presence: Callable[[], str]
    settings: ActivitySettings
    boundary: Boundary = pass_by
    within: Within = nowhere
    seldom: Seldom = field(default_factory=Seldom)
    sources: SourcesInUse = field(default_factory=SourcesInUse)
