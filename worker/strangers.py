"""Tasks of another journal on this worker's queue are given back, and it is said.

Rule: queues follow from the journals' ids, so this happens only where somebody gave two journals one `task_queue`.
A worker of the wrong journal finds nothing there and would end the other's workflows, again and again, without a
word. Given back, a task soon meets a worker of its own journal; if there is none for long, its workflow ends. What was
begun when this very journal had an earlier id would find its turns here, so it ends at once.
"""

from datetime import timedelta
from typing import Any

import structlog
from temporalio import activity
from temporalio.exceptions import ApplicationError, ApplicationErrorCategory
from temporalio.worker import ActivityInboundInterceptor, ExecuteActivityInput, Interceptor

from turnwright.activities.runtime.seldom import Seldom
from turnwright.journal.driver import Driver
from turnwright.journal.transact.serving import earlier_ids
from turnwright.workflows.ids import journal_of

GIVE_BACK_S = 1.0
GIVEN_BACK_MAX = 30

log = structlog.get_logger(__name__)


class Strangers(Interceptor):
    """Keeps activities of other journals from running here."""

    def __init__(self, driver: Driver, journal_id: str, task_queue: str) -> None:
        self._driver = driver
        self._journal_id = journal_id
        self._task_queue = task_queue
        self._seldom = Seldom()

    def intercept_activity(self, next: ActivityInboundInterceptor) -> ActivityInboundInterceptor:  # noqa: A002 - the SDK's
        """Look at each activity before it runs."""
        return _Gate(next, self)

    async def check(self, info: activity.Info) -> None:
        """Give a stranger's task back.

        Raises:
            ApplicationError: it is one.
        """
        theirs = journal_of(info.workflow_id or "")
        if theirs in (None, self._journal_id):
            return
        if theirs in await self._driver.read(earlier_ids):
            if self._seldom.is_due(str(theirs)):
                log.warning(
                    "task_of_earlier_incarnation", journal=self._journal_id, was=theirs, then="its workflow ends"
                )
            raise ApplicationError(
                "the journal has another id now",
                type="EarlierIncarnation",
                non_retryable=True,
                category=ApplicationErrorCategory.BENIGN,
            )
        if self._seldom.is_due(str(theirs)):
            log.warning(
                "task_of_another_journal",
                journal=self._journal_id,
                theirs=theirs,
                task_queue=self._task_queue,
                effect="turns of both are slow; give each journal a task_queue of its own, or leave it out",
            )
        if info.is_local or info.attempt < GIVEN_BACK_MAX:
            # A local activity would be tried again right here; when it fails the workflow puts it on the queue.
            raise ApplicationError(
                "this worker serves another journal",
                type="OtherJournal",
                non_retryable=info.is_local,
                next_retry_delay=timedelta(seconds=GIVE_BACK_S),
                category=ApplicationErrorCategory.BENIGN,
            )


class _Gate(ActivityInboundInterceptor):
    def __init__(self, following: ActivityInboundInterceptor, strangers: Strangers) -> None:
        super().__init__(following)
        self._strangers = strangers

    async def execute_activity(self, input: ExecuteActivityInput) -> Any:  # noqa: A002, ANN401 - as the SDK's
        await self._strangers.check(activity.info())
        return await self.next.execute_activity(input)
