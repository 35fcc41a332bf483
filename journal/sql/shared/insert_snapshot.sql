-- $1 thread id, $2 target, $3 session id, $4 the thread's key.
INSERT INTO snapshots (thread_id, target, session_id, thread_key, seq, reducer_version, turn_id)
VALUES ($1, $2, $3, $4, 0, 0, '');
