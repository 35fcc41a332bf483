"""The page that Prometheus reads: what this process counted, what the journal holds now, and whether Temporal answers.

Rule: journal and Temporal are asked at most once in a while however many ask, and one that is away takes only its own
numbers from the page: what the process counted is told all the same.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Final, get_args

import structlog
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.exposition import generate_latest

from turnwright.client.metrics.beside import Beside
from turnwright.client.metrics.meters import Meters
from turnwright.journal.entries.operation import InteractionKind
from turnwright.journal.errors import TurnwrightError
from turnwright.journal.store import Journal
from turnwright.journal.transact.statistics import LiveNumber, live_numbers

SAMPLE_AGE_S_MAX = 10.0
SAMPLE_S_MAX = 5.0

log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class Made:
    """A page in Prometheus's text format; `given` is to be called once somebody has it."""

    text: bytes
    given: Callable[[], None]


class Page:
    """The page of one process; `journal` may come later, go, and be another one.

    Args:
        meters: what the process counts.
        beside: what else it shows.
    """

    def __init__(self, meters: Meters, beside: Beside | None = None) -> None:
        self.journal: Journal | None = None
        self._meters = meters
        self._beside = beside or Beside()
        self._sample = Sample(self._beside.rescues)
        self._sampling = asyncio.Lock()
        meters.registry.register(self._sample)

    async def made(self) -> Made:
        """It, as it is now."""
        async with self._sampling:
            if time.monotonic() - self._sample.taken_s > SAMPLE_AGE_S_MAX:
                self._sample.taken_s = time.monotonic()
                await asyncio.gather(self._take(), self._ask_temporal())
        given = self._meters.standing()
        # Of a hundred agents and as many tools it takes a quarter of a second, in which no turn would go on.
        text = await asyncio.to_thread(generate_latest, self._meters.registry)
        return Made(text + await self._beside.more(), given)

    async def _take(self) -> None:
        journal, self._sample.numbers = self.journal, None
        if journal is None:
            return
        self._sample.hits, self._sample.misses = journal.cache.hits, journal.cache.misses
        try:
            async with asyncio.timeout(SAMPLE_S_MAX):
                self._sample.numbers = await journal.driver.read(live_numbers)
        except (TurnwrightError, TimeoutError) as error:
            log.debug("metrics_without_journal", error=str(error))

    async def _ask_temporal(self) -> None:
        try:
            async with asyncio.timeout(SAMPLE_S_MAX):
                self._sample.temporal = await self._beside.temporal()
        except TimeoutError:
            self._sample.temporal = False


class Sample:
    """What was found a moment ago; `numbers` None: the journal did not answer. `temporal` None: nobody knows."""

    def __init__(self, rescues: Mapping[str, int]) -> None:
        self._rescues = rescues
        self.taken_s = -SAMPLE_AGE_S_MAX
        self.numbers: list[LiveNumber] | None = None
        self.hits = self.misses = 0
        self.temporal: bool | None = None

    def collect(self) -> Iterator[Metric]:
        """The families, as a collector of Prometheus gives them."""
        yield GaugeMetricFamily("turnwright_journal_up", "Whether the journal answers", value=self.numbers is not None)
        if self.temporal is not None:
            yield GaugeMetricFamily("turnwright_temporal_up", "Whether Temporal answers", value=self.temporal)
        reads = CounterMetricFamily("turnwright_state_reads", "States read, by where from", labels=["from"])
        reads.add_metric(["cache"], self.hits)
        reads.add_metric(["journal"], self.misses)
        yield reads
        rescues = CounterMetricFamily("turnwright_rescues", "Threads that a sweeper woke, by why", labels=["why"])
        for why, count in tuple(self._rescues.items()):  # a page is made while the sweeper counts on
            rescues.add_metric([why], count)
        yield rescues
        for gauge in _GAUGES if self.numbers is not None else ():
            yield from gauge.families([number for number in self.numbers or () if number.what == gauge.what])


@dataclass(frozen=True, slots=True)
class _Gauge:
    """How many there are, and for how long the oldest one; by kind, where there are `kinds`: none is left out."""

    what: str
    name: str
    meaning: str
    kinds: tuple[str, ...] = ("",)

    def families(self, numbers: list[LiveNumber]) -> Iterator[Metric]:
        """As they are now."""
        labels = ["kind"] if self.kinds != ("",) else []
        counts = GaugeMetricFamily(f"turnwright_{self.name}", self.meaning, labels=labels)
        ages = GaugeMetricFamily(f"turnwright_{self.name}_oldest_seconds", f"{self.meaning}: the oldest", labels=labels)
        known = {number.kind: number for number in numbers}
        for kind in self.kinds:
            number = known.get(kind)
            values = [kind] if labels else []
            counts.add_metric(values, 0 if number is None else number.count)
            ages.add_metric(values, 0 if number is None else number.oldest_s)
        yield counts
        yield ages


_GAUGES: Final = (
    _Gauge("turns", "turns", "Turns that have not ended", ("queued", "running", "waiting", "cancelling")),
    _Gauge("paused", "turns_paused", "Turns of these that are paused themselves"),
    _Gauge("ready", "turns_ready", "Turns that nothing keeps from beginning, by when their threads last did anything"),
    _Gauge("questions", "questions_open", "Open questions to people and outside systems", get_args(InteractionKind)),
    _Gauge("due", "threads_due", "Threads with work that are due to be looked at by a sweeper"),
)
