"""Hooks of a journal's driver: a store that is away, and one that answers wrongly."""

from turnwright.journal.errors import JournalError, StoreUnavailable


class Outage:
    """Refuses everything while it is on."""

    def __init__(self, error: type[JournalError] = StoreUnavailable) -> None:
        self.on = False
        self.refused = 0
        self._error = error

    def __call__(self, point: str) -> None:
        if self.on:
            self.refused += 1
            raise self._error("the store does not take it")


class Unlucky:
    """Lets commits succeed, and of every so many claims that all but one did not."""

    def __init__(self, lucky_every: int) -> None:
        self._lucky_every = lucky_every
        self._commits = 0

    def __call__(self, point: str) -> None:
        if point == "committed":
            self._commits += 1
            if self._commits % self._lucky_every:
                raise StoreUnavailable("the connection broke after the commit")


class LostClaim:
    """Armed, it lets the next append succeed, says that it did not, and then refuses everything while it is on."""

    def __init__(self) -> None:
        self.armed = False
        self.on = False
        self._appended = False

    def __call__(self, point: str) -> None:
        if self.on:
            raise StoreUnavailable("the connection broke, and the store is away")
        if point == "begin":
            self._appended = False
        elif point.startswith("append"):
            self._appended = True
        elif point == "committed" and self.armed and self._appended:
            self.armed, self.on = False, True
            raise StoreUnavailable("the connection broke after the commit")
