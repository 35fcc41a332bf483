-- Where a thread's state begins with that of another entry: of another thread (a fork), or of its own (a rewind).
-- A projection of `thread.forked` and `thread.rewound`.
CREATE TABLE bases (
    thread_id bigint NOT NULL,
    seq bigint NOT NULL,
    origin_id bigint NOT NULL,
    at_seq bigint NOT NULL,
    PRIMARY KEY (thread_id, seq)
);
CREATE INDEX bases_by_origin ON bases (origin_id, at_seq);
