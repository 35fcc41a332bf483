"""Where a process that works under these settings shows its numbers."""

from turnwright.client.metrics.address import Address
from turnwright.worker.settings import Settings


def shown_at(settings: Settings) -> Address | None:
    """The address, if they name a port."""
    return None if settings.metrics_port is None else Address(settings.metrics_host, settings.metrics_port)
