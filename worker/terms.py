"""How an operator's settings have the journal judge who is gone, for everything that is started with them."""

from turnwright.journal.transact.thread_script import Terms
from turnwright.worker.settings import Settings


def terms_of(settings: Settings) -> Terms:
    """A `once` call is given up when its worker gave no sign of life for the lease and the grace after it."""
    return Terms(once_silence_s=settings.lease_s + settings.once_grace_s)
