"""An activity that cannot reach the journal or Temporal is tried again, and the log says so once in a while.

Rule: the SDK logs each failed attempt with its stack, which is right for errors nobody foresaw. These are foreseen,
and an hour of them is one line a minute for each of them. What a newer version wrote is left to a newer worker: such an
activity goes back to the queue at once, since here it would fail each time. So does whatever comes to a worker that has
been out of touch with the store for its whole lease: others count it as gone, and one of them may see the store.
"""

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import structlog
from temporalio import activity
from temporalio.exceptions import ApplicationError, ApplicationErrorCategory
from temporalio.service import RPCError
from temporalio.worker import ActivityInboundInterceptor, ExecuteActivityInput, Interceptor

from turnwright.activities.runtime.seldom import Seldom
from turnwright.journal.errors import NewerReducer, StoreUnavailable

GIVE_BACK = timedelta(seconds=1)

log = structlog.get_logger(__name__)


class Outages(Interceptor):
    """Tells what is away from what is broken.

    Args:
        lapsed: whether this worker has not reached the store for its whole lease.
    """

    def __init__(self, lapsed: Callable[[], bool]) -> None:
        self._lapsed = lapsed
        self._seldom = Seldom()

    def intercept_activity(self, next: ActivityInboundInterceptor) -> ActivityInboundInterceptor:  # noqa: A002 - the SDK's
        """Look at how each activity ends."""
        return _Watched(next, self)

    def check(self) -> None:
        """Give back what would only wait here.

        Raises:
            ApplicationError: it would.
        """
        if not self._lapsed():
            return
        if self._seldom.is_due("lapsed"):
            log.warning("out_of_touch_with_the_store", then="what comes is given back until the store answers")
        raise _given_back("this worker is out of touch with the store", "StoreUnavailable")

    def is_due(self, *what: str) -> bool:
        """Whether it is time to say this again."""
        return self._seldom.is_due(*what)


class _Watched(ActivityInboundInterceptor):
    def __init__(self, following: ActivityInboundInterceptor, outages: Outages) -> None:
        super().__init__(following)
        self._outages = outages

    async def execute_activity(self, input: ExecuteActivityInput) -> Any:  # noqa: A002, ANN401 - as the SDK's
        self._outages.check()
        try:
            return await self.next.execute_activity(input)
        except (StoreUnavailable, RPCError) as error:
            kind, said = type(error).__name__, str(error)
            if self._outages.is_due(kind, said):
                log.warning("activity_waits", error=said, then="it is tried again until it works")
            raise ApplicationError(said, type=kind, category=ApplicationErrorCategory.BENIGN) from None
        except NewerReducer as error:
            if self._outages.is_due("newer"):
                log.warning("written_by_a_newer_version", error=str(error), then="a newer worker takes it")
            raise _given_back(str(error), "NewerReducer") from None


def _given_back(why: str, kind: str) -> ApplicationError:
    """For another worker to take. Locally it would be tried again right here; failed, it is put on the queue."""
    return ApplicationError(
        why,
        type=kind,
        non_retryable=activity.info().is_local,
        next_retry_delay=GIVE_BACK,
        category=ApplicationErrorCategory.BENIGN,
    )
