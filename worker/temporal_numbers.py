"""What Temporal's SDK counts by itself, to stand on the page of its process.

Rule: the SDK shows it to this machine only, on a port that it holds from the start; whoever asks the process is given
it with the process's own numbers, so there is one page and one port to open. None of its updates passes through Python.
"""

import asyncio
from http.client import HTTPConnection, HTTPException

import structlog
from temporalio.runtime import PrometheusConfig, Runtime, TelemetryConfig

from turnwright.worker import loopback
from turnwright.worker.logs import forward_core_logs

TRIES_MAX = 5
FETCH_S_MAX = 2.0

log = structlog.get_logger(__name__)


class TemporalNumbers:
    """The SDK's runtime of a process, and what it counts.

    Args:
        shown: whether somebody may ask; else nothing is counted.

    Raises:
        ValueError: no port of this machine's loopback can be had.
    """

    def __init__(self, *, shown: bool) -> None:
        self._port: int | None = None
        self.runtime = self._counting() if shown else Runtime(telemetry=TelemetryConfig(logging=forward_core_logs()))

    async def text(self) -> bytes:
        """They, in Prometheus's text format; empty when there are none, or they cannot be had."""
        if self._port is None:
            return b""
        try:
            return await asyncio.to_thread(_fetch, self._port)
        except (OSError, HTTPException) as error:
            log.debug("metrics_without_temporal", error=str(error))
            return b""

    def _counting(self) -> Runtime:
        for left in reversed(range(TRIES_MAX)):
            self._port = loopback.find_free()
            try:
                return Runtime(telemetry=_telemetry(f"{loopback.HOST}:{self._port}"))
            except ValueError:  # somebody took the port between the look and the bind
                if not left:
                    raise
        raise AssertionError("the last try returns or raises")


def _telemetry(address: str) -> TelemetryConfig:
    """Named as Prometheus's own conventions have it, and without a label that is the same everywhere."""
    shown = PrometheusConfig(address, counters_total_suffix=True, unit_suffix=True, durations_as_seconds=True)
    return TelemetryConfig(logging=forward_core_logs(), metrics=shown, attach_service_name=False)


def _fetch(port: int) -> bytes:
    connection = HTTPConnection(loopback.HOST, port, timeout=FETCH_S_MAX)
    try:
        connection.request("GET", "/metrics")
        return connection.getresponse().read()
    finally:
        connection.close()
