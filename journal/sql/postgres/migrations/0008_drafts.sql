-- What running model calls have said, written while somebody listens and gone with their testimony; losing it costs a
-- view of them, so it is not logged. `n` counts the rows of an attempt, `block` is the place in the answer.
CREATE UNLOGGED TABLE drafts (
    thread_id bigint NOT NULL,
    turn_id text NOT NULL,
    step integer NOT NULL,
    ordinal integer NOT NULL,
    n integer NOT NULL,
    block integer NOT NULL,
    kind text NOT NULL,
    body text NOT NULL,
    written_us bigint NOT NULL,
    PRIMARY KEY (thread_id, turn_id, step, ordinal, n)
);

-- Until when somebody listens to a thread, named as its commits are.
CREATE UNLOGGED TABLE listeners (
    topic text PRIMARY KEY,
    until_us bigint NOT NULL
) WITH (fillfactor = 50);
