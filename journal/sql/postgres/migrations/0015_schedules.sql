-- A session's schedules; `generation` is the number of the entry in the session's log that made one. What Temporal was
-- told of it: `applied_to` names the journal's id and the Temporal, '' none; `next`, JSON, is when it comes next as Temporal
-- said at `looked_us`; `look_us` is when to look again, 0 at once. One that has ended stays until Temporal has it no more.
CREATE TABLE schedules (
    session_id bigint NOT NULL,
    generation bigint NOT NULL,
    name text NOT NULL,
    state text NOT NULL,
    changes bigint NOT NULL,
    created_us bigint NOT NULL,
    changed_us bigint NOT NULL,
    applied_to text NOT NULL,
    next text NOT NULL,
    looked_us bigint NOT NULL,
    look_us bigint NOT NULL,
    error text NOT NULL,
    PRIMARY KEY (session_id, generation)
);
CREATE INDEX schedules_due ON schedules (look_us, session_id, generation);
-- What became of the newest ticks of each schedule. `turn_id` '': no turn, `code` and `reason` say why.
CREATE TABLE ticks (
    thread_id bigint NOT NULL,
    seq bigint NOT NULL,
    session_id bigint NOT NULL,
    generation bigint NOT NULL,
    due_us bigint NOT NULL,
    at_us bigint NOT NULL,
    turn_id text NOT NULL,
    code text NOT NULL,
    reason text NOT NULL,
    by_hand bigint NOT NULL,
    PRIMARY KEY (thread_id, seq)
);
CREATE INDEX ticks_of_schedule ON ticks (session_id, generation, seq);
