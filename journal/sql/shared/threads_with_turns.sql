-- $1 after this thread id, $2 how many at most: threads with turns that have not ended. Rows: as those of
-- `stalled_threads`, without what hints and the queue say.
SELECT t.id, t.key, t.seq, t.at_us, t.control, t.reducer_version, s.paused, s.cancelled_seq, NULL, NULL, NULL, NULL
FROM threads AS t
JOIN sessions AS s ON s.id = t.session_id
WHERE t.id > $1 AND (t.active_turn IS NOT NULL OR t.queued > 0) AND s.deleted_at_us IS NULL
ORDER BY t.id
LIMIT $2;
