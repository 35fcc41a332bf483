-- $1 key. The one writer needs no lock.
-- Row: id, session_id, seq, hash, at_us, epoch, control, reducer_version, tail_bytes,
-- checkpoint_bytes, total_bytes, queued, active_turn, runnable.
SELECT id, session_id, seq, hash, at_us, epoch, control, reducer_version, tail_bytes,
    checkpoint_bytes, total_bytes, queued, active_turn, runnable
FROM threads WHERE key = $1;
