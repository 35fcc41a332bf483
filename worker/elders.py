"""Workers of an older version finish before one of a newer version begins.

Rule: what newer code has written of a thread, older code neither reads nor changes. So a newer worker beside an older
one would shut it out of the very calls that run there: their results could not be recorded. Commands are accepted
meanwhile, and what the older ones hand over is taken up a moment later.
"""

from turnwright.journal.control import REDUCER_VERSION
from turnwright.journal.driver import Driver
from turnwright.journal.errors import TurnwrightError
from turnwright.journal.takers import REDUCER


class OlderAtWork(TurnwrightError, ConnectionError):
    """Workers of an older version live; the message names them and says what to do."""


async def check_elders(driver: Driver) -> None:
    """Find out whether this worker may begin.

    Raises:
        OlderAtWork: not yet.
    """
    alive = [seen for seen in await driver.presences() if seen.liveness.state == "alive"]
    older = [seen for seen in alive if seen.info.get(REDUCER, 0) < REDUCER_VERSION]
    if older:
        who = ", ".join(f"{seen.info.get('label', 'worker')} {seen.info.get('pid', '')}".strip() for seen in older)
        raise OlderAtWork(f"workers of an older version are at work ({who}): this one begins when they are stopped")
