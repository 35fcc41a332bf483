"""A worker of a build that is broken: `turnwright`, with turns that do not get far."""

from tests.faults.broken_turn import BrokenTurn
from turnwright.worker import shift
from turnwright.worker.main import main
from turnwright.workflows.session import SessionWorkflow
from turnwright.workflows.thread import ThreadWorkflow

if __name__ == "__main__":
    shift.WORKFLOWS = (SessionWorkflow, ThreadWorkflow, BrokenTurn)  # type: ignore[misc]
    main()
