"""A workflow that logs, in a module of its own because the sandbox loads it again."""

import logging  # noqa: TID251 - other libraries log through it

import structlog
from temporalio import workflow

log = structlog.get_logger()


@workflow.defn
class LoggingWorkflow:
    def __init__(self) -> None:
        self.wakes = 0
        self.woken = 0

    @workflow.run
    async def run(self, wakes: int) -> None:
        with structlog.contextvars.bound_contextvars(turn_id="t1"):
            log.info("started")
            while self.woken < wakes:
                await workflow.wait_condition(lambda: self.wakes > self.woken)
                self.woken += 1
                log.info("woken", number=self.woken)
                logging.getLogger("elsewhere").warning("aside")

    @workflow.signal
    def wake(self) -> None:
        self.wakes += 1

    @workflow.query
    def count(self) -> int:
        log.info("asked")
        return self.woken
