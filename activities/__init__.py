"""The side effects of a turn: model calls, tools and journal writes, run outside the sandbox."""
