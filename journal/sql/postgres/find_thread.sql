-- $1 key. A thread of a deleted session is not found, whatever is left of it.
-- Row: id, session_id, seq, hash, at_us, epoch, control, reducer_version, tail_bytes,
-- checkpoint_bytes, total_bytes, queued, active_turn, runnable.
SELECT id, session_id, seq, hash, at_us, epoch, control, reducer_version, tail_bytes,
    checkpoint_bytes, total_bytes, queued, active_turn, runnable
FROM threads AS t WHERE key_digest = sha256(convert_to($1, 'UTF8'))
    AND EXISTS (SELECT 1 FROM sessions AS s WHERE s.id = t.session_id AND s.deleted_at_us IS NULL);
