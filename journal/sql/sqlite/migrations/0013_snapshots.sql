-- How far the states of threads were brought to a place outside (`target`): what is there is true for `seq` (below 0: it holds
-- what was erased), `turn_id` the active turn then. A row is there before anything is written outside, so whatever is
-- there is known here; `doomed`: its session was deleted, and what is outside is to go, then the row.
CREATE TABLE snapshots (
    thread_id INTEGER NOT NULL,
    target TEXT NOT NULL,
    session_id INTEGER NOT NULL,
    thread_key TEXT NOT NULL,
    seq INTEGER NOT NULL,
    reducer_version INTEGER NOT NULL,
    turn_id TEXT NOT NULL,
    doomed INTEGER NOT NULL DEFAULT 0,
    UNIQUE (thread_id, target)
) STRICT;
CREATE INDEX snapshots_of_session ON snapshots (session_id, thread_id);
CREATE INDEX snapshots_doomed ON snapshots (target, session_id) WHERE doomed = 1;
