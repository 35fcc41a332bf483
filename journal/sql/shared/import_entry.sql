-- $1 thread id, $2 session id, then the columns below: an entry as it was written elsewhere.
INSERT INTO entries (
    thread_id, session_id, seq, entry_id, type, version, position, at_us, turn_id, run, step, epoch, required, prev_hash, hash
)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15);
