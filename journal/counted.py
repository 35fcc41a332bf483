"""Numbers of things, in words."""


def counted(count: int, noun: str) -> str:
    """How many: `1 thread`, `2,000 threads`."""
    return f"{count:,} {noun}{'' if count == 1 else 's'}"
