-- What running model calls have said, written while somebody listens and gone with their testimony; losing it costs a
-- view of them. `n` counts the rows of an attempt, `block` is the place in the answer.
CREATE TABLE drafts (
    thread_id INTEGER NOT NULL,
    turn_id TEXT NOT NULL,
    step INTEGER NOT NULL,
    ordinal INTEGER NOT NULL,
    n INTEGER NOT NULL,
    block INTEGER NOT NULL,
    kind TEXT NOT NULL,
    body TEXT NOT NULL,
    written_us INTEGER NOT NULL,
    UNIQUE (thread_id, turn_id, step, ordinal, n)
) STRICT;

-- Until when somebody listens to a thread, named as its commits are.
CREATE TABLE listeners (
    topic TEXT PRIMARY KEY,
    until_us INTEGER NOT NULL
) STRICT;
