"""Ids of entries, derived from what caused them, so that a repeated append is recognised.

Rule: an id is never made up. Status entries: see `turn_status.status_entry_id`.
"""

COMMAND = "cmd:"


def command(request_id: str, index: int) -> str:
    """The `index`-th entry of a client's command."""
    return f"{COMMAND}{request_id}:{index}"


def request_of(command_id: str) -> str:
    """The request of a client's command, from the id of one of its entries."""
    return command_id.removeprefix(COMMAND).rpartition(":")[0]


def run(turn_id: str, temporal_run_id: str) -> str:
    """A run's claim of a turn."""
    return f"run:{turn_id}/{temporal_run_id}"


def model(turn_id: str, step: int, ordinal: int, what: str) -> str:
    """Something an attempt of a model step did."""
    return f"op:{turn_id}/{step}/model//{ordinal}/{what}"


def tool(turn_id: str, step: int, call_id: str, ordinal: int, what: str) -> str:
    """Something an attempt of a tool call did."""
    return f"op:{turn_id}/{step}/tool/{call_id}/{ordinal}/{what}"


def caused(cause: str, index: int) -> str:
    """The `index`-th further entry that another one brought about."""
    return f"{cause}/{index}"


def call(turn_id: str, step: int, index: int) -> str:
    """Our own id of the `index`-th call of a step; providers' ids repeat within a conversation."""
    return f"{turn_id[2:14]}-{step}-{index}"


def approval(call_id: str, asks: int) -> str:
    """The question whether a call may run; it may be asked again about other arguments."""
    return f"q-{call_id}-may-{asks}"


def budget(turn_id: str, revision: int) -> str:
    """The question about a budget that was used up at that revision of the turn."""
    return f"q-{turn_id[2:14]}-budget-{revision}"


def interaction(call_id: str, ordinal: int) -> str:
    """The question about an attempt of a call."""
    return f"q-{call_id}-{ordinal}"
