-- $1 thread id, $2 session id, $3 position, then the columns below.
INSERT INTO entries (
    thread_id, session_id, position, seq, entry_id, type, version, at_us, turn_id, run, step, epoch,
    required, prev_hash, hash
)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15);
