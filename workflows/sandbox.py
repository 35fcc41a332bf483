"""How workflows run: in Temporal's sandbox, which refuses clocks, chance and I/O in their code.

Rule: passed through is only what holds nothing but frozen data, so that no run need build those classes
anew, and structlog: a copy of it would not be configured. Whatever acts for a workflow is loaded inside the
sandbox and held to its rules.
"""

from __future__ import annotations

from temporalio.worker.workflow_sandbox import SandboxedWorkflowRunner, SandboxRestrictions

PASSED_THROUGH = ("structlog", "turnwright.workflows.payloads")


def workflow_runner() -> SandboxedWorkflowRunner:
    """The runner for a worker and for replaying histories."""
    return SandboxedWorkflowRunner(restrictions=SandboxRestrictions.default.with_passthrough_modules(*PASSED_THROUGH))
