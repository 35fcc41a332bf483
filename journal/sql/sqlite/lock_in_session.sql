-- $1 the thread's key, $2 its session's key. The one writer needs no lock.
-- Row: id, session_id, seq, hash, at_us, epoch, control, reducer_version, tail_bytes, checkpoint_bytes, total_bytes,
-- queued, active_turn, runnable of the thread; id, control, reducer_version, deleted_at_us of the session; the store's
-- time in microseconds.
SELECT t.id, t.session_id, t.seq, t.hash, t.at_us, t.epoch, t.control, t.reducer_version, t.tail_bytes,
    t.checkpoint_bytes, t.total_bytes, t.queued, t.active_turn, t.runnable,
    s.id, s.control, s.reducer_version, s.deleted_at_us, now_us()
FROM threads AS t, sessions AS s WHERE t.key = $1 AND s.key = $2;
