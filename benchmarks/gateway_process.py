"""A gateway of a journal that asks nobody who they are, counts nobody's requests and wakes nobody.

`python -m benchmarks.gateway_process JOURNAL_URL PORT`.
"""

from __future__ import annotations

import sys

import structlog

from turnwright.client.gateway import readings
from turnwright.client.gateway.serve import LEAVE_S, Gateway
from turnwright.client.gateway.settings import GatewaySettings
from turnwright.client.settings import ClientSettings
from turnwright.worker.leaving import MARGIN_S, run_until_signalled

UNBOUNDED = 1_000_000
TENANT = "bench"


def settings_of(journal_url: str, port: int) -> GatewaySettings:
    """Those of a gateway under measurement: defaults, but for what would hold the measurement back."""
    return GatewaySettings(
        client=ClientSettings(journal_url=journal_url, tenant=TENANT, wake=False),
        port=port,
        open=True,
        requests_per_s=UNBOUNDED,
        requests_at_once=UNBOUNDED,
        streams_max=UNBOUNDED,
    )


if __name__ == "__main__":
    readings.SPACING_S = 0  # one reader that asks for a list again and again would be made to wait
    structlog.configure(wrapper_class=structlog.make_filtering_bound_logger("error"))
    run_until_signalled(Gateway(settings_of(sys.argv[1], int(sys.argv[2]))), LEAVE_S + MARGIN_S)
