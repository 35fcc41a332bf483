"""The table of turn commands as the specification states it, written down apart from the code that holds it.

A cell says what becomes of the turn, as `phase/pause`, or with which code the command is rejected. `=` stands
for "accepted, and neither field changes".
"""

COMMANDS = (
    "steer", "pause", "resume", "resume_stale", "cancel", "respond", "respond_other", "reconcile", "retry",
)  # fmt: skip

_ROWS = """
state              steer       pause             resume       resume_stale   cancel          respond             respond_other       reconcile    retry
queued             =           queued/effective  not_paused   not_paused     cancelled/none  wrong_phase         wrong_phase         wrong_phase  wrong_phase
queued_paused      =           already_paused    queued/none  stale_revision cancelled/none  wrong_phase         wrong_phase         wrong_phase  wrong_phase
idle               =           running/effective not_paused   not_paused     cancelled/none  unknown_interaction unknown_interaction not_unknown  wrong_phase
busy               =           running/requested not_paused   not_paused     cancelling/none unknown_interaction unknown_interaction not_unknown  wrong_phase
pausing            =           already_paused    running/none stale_revision cancelling/none unknown_interaction unknown_interaction not_unknown  wrong_phase
paused             =           already_paused    running/none stale_revision cancelled/none  unknown_interaction unknown_interaction not_unknown  wrong_phase
asking             =           running/effective not_paused   not_paused     cancelled/none  =                   unknown_interaction not_unknown  wrong_phase
asking_busy        =           running/requested not_paused   not_paused     cancelling/none needs_reconcile     unknown_interaction =            wrong_phase
waiting            =           waiting/effective not_paused   not_paused     cancelled/none  running/none        unknown_interaction not_unknown  wrong_phase
waiting_two        =           waiting/effective not_paused   not_paused     cancelled/none  =                   unknown_interaction not_unknown  wrong_phase
waiting_paused     =           already_paused    waiting/none stale_revision cancelled/none  =                   unknown_interaction not_unknown  wrong_phase
answered_paused    =           already_paused    running/none stale_revision cancelled/none  already_answered    unknown_interaction not_unknown  wrong_phase
deferred           =           waiting/effective not_paused   not_paused     cancelled/none  running/none        unknown_interaction not_unknown  wrong_phase
deferred_paused    =           already_paused    waiting/none stale_revision cancelled/none  =                   unknown_interaction not_unknown  wrong_phase
deferred_busy      =           running/requested not_paused   not_paused     cancelling/none =                   unknown_interaction not_unknown  wrong_phase
over_budget        =           waiting/effective not_paused   not_paused     cancelled/none  running/none        unknown_interaction not_unknown  wrong_phase
over_budget_paused =           already_paused    waiting/none stale_revision cancelled/none  =                   unknown_interaction not_unknown  wrong_phase
unknown            =           waiting/effective not_paused   not_paused     cancelled/none  needs_reconcile     unknown_interaction running/none wrong_phase
unknown_paused     =           already_paused    waiting/none stale_revision cancelled/none  needs_reconcile     unknown_interaction =            wrong_phase
cancelling         wrong_phase wrong_phase       wrong_phase  wrong_phase    =               wrong_phase         wrong_phase         wrong_phase  wrong_phase
completed          wrong_phase wrong_phase       wrong_phase  wrong_phase    wrong_phase     wrong_phase         wrong_phase         wrong_phase  wrong_phase
cancelled          wrong_phase wrong_phase       wrong_phase  wrong_phase    wrong_phase     wrong_phase         wrong_phase         wrong_phase  wrong_phase
failed             wrong_phase wrong_phase       wrong_phase  wrong_phase    wrong_phase     wrong_phase         wrong_phase         wrong_phase  queued/none
failed_passed_by   wrong_phase wrong_phase       wrong_phase  wrong_phase    wrong_phase     wrong_phase         wrong_phase         wrong_phase  later_turn_started
"""  # noqa: E501 - a table is read across


def _parsed() -> dict[tuple[str, str], str]:
    head, *rows = (line.split() for line in _ROWS.strip().splitlines())
    assert tuple(head[1:]) == COMMANDS
    return {(row[0], command): cell for row in rows for command, cell in zip(COMMANDS, row[1:], strict=True)}


TABLE = _parsed()
STATES = tuple(dict.fromkeys(state for state, _ in TABLE))
