-- $1 the thread's key, $2 its session's key. Locks the thread's row, then the session's against session commands: in
-- that order, because each part reads the one before. Sharers of a row overtake whoever waits to lock it alone, so a
-- session with busy threads could not be paused: all take their turn in line before it, as in `lock_session`.
-- Row: id, session_id, seq, hash, at_us, epoch, control, reducer_version, tail_bytes, checkpoint_bytes, total_bytes,
-- queued, active_turn, runnable of the thread; id, control, reducer_version, deleted_at_us of the session; the store's
-- time in microseconds, after waiting for both.
WITH thread AS MATERIALIZED (
    SELECT id, session_id, seq, hash, at_us, epoch, control, reducer_version, tail_bytes,
        checkpoint_bytes, total_bytes, queued, active_turn, runnable
    FROM threads WHERE key_digest = sha256(convert_to($1, 'UTF8')) FOR NO KEY UPDATE
), line AS MATERIALIZED (
    SELECT pg_advisory_xact_lock_shared(hashtextextended($2, hashtext(current_schema()))) FROM thread
), session AS MATERIALIZED (
    SELECT s.id, s.control, s.reducer_version, s.deleted_at_us FROM line, sessions AS s
    WHERE s.key_digest = sha256(convert_to($2, 'UTF8')) FOR SHARE OF s
)
SELECT thread.*, session.*, (extract(epoch FROM clock_timestamp()) * 1000000)::bigint
FROM thread, session;
