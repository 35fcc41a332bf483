-- $1 thread id. Row: key, session_id, tenant, seq, hash, at_us, epoch, control, reducer_version, total_bytes, queued,
-- active_turn, runnable.
SELECT key, session_id, tenant, seq, hash, at_us, epoch, control, reducer_version, total_bytes, queued, active_turn, runnable
FROM threads WHERE id = $1;
