-- A session's schedules; `generation` is the number of the entry in the session's log that made one. What Temporal was
-- told of it: `applied_to` names the journal's id and the Temporal, '' none; `next`, JSON, is when it comes next as Temporal
-- said at `looked_us`; `look_us` is when to look again, 0 at once. One that has ended stays until Temporal has it no more.
CREATE TABLE schedules (
    session_id INTEGER NOT NULL,
    generation INTEGER NOT NULL,
    name TEXT NOT NULL,
    state TEXT NOT NULL,
    changes INTEGER NOT NULL,
    created_us INTEGER NOT NULL,
    changed_us INTEGER NOT NULL,
    applied_to TEXT NOT NULL,
    next TEXT NOT NULL,
    looked_us INTEGER NOT NULL,
    look_us INTEGER NOT NULL,
    error TEXT NOT NULL,
    PRIMARY KEY (session_id, generation)
) STRICT;
CREATE INDEX schedules_due ON schedules (look_us, session_id, generation);
-- What became of the newest ticks of each schedule. `turn_id` '': no turn, `code` and `reason` say why.
CREATE TABLE ticks (
    thread_id INTEGER NOT NULL,
    seq INTEGER NOT NULL,
    session_id INTEGER NOT NULL,
    generation INTEGER NOT NULL,
    due_us INTEGER NOT NULL,
    at_us INTEGER NOT NULL,
    turn_id TEXT NOT NULL,
    code TEXT NOT NULL,
    reason TEXT NOT NULL,
    by_hand INTEGER NOT NULL,
    PRIMARY KEY (thread_id, seq)
) STRICT;
CREATE INDEX ticks_of_schedule ON ticks (session_id, generation, seq);
