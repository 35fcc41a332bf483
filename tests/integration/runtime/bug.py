"""A version of the worker with a bug at one place."""


class Bug:
    """Breaks whatever passes that point, so many times."""

    def __init__(self, point: str, times: int = 1_000) -> None:
        self._point = point
        self._times = times

    async def __call__(self, point: str) -> None:
        if point == self._point and self._times > 0:
            self._times -= 1
            raise ZeroDivisionError(point)
