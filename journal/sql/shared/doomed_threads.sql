-- $1 session id, $2 its cancelled_seq, $3 now, $4 how many at most, $5 after this thread id, $6 1: hints do not count:
-- threads with turns that were queued before the cancel.
-- Rows: id, key, seq, at_us, control and reducer_version of the thread, paused and cancelled_seq of its session,
-- seq, next_check_at_us and wakes of its hint (null: none), the body of the front of its queue if no turn is active.
SELECT t.id, t.key, t.seq, t.at_us, t.control, t.reducer_version, s.paused, s.cancelled_seq, h.seq, h.next_check_at_us, h.wakes,
    CASE WHEN t.active_turn IS NULL THEN (
        SELECT q.body FROM turns AS q WHERE q.thread_id = t.id AND q.phase = 'queued' ORDER BY q.queue_order LIMIT 1
    ) END
FROM threads AS t
JOIN sessions AS s ON s.id = t.session_id
LEFT JOIN hints AS h ON h.thread_id = t.id
WHERE s.id = $1 AND t.id > $5 AND s.deleted_at_us IS NULL
    AND t.id IN (
        SELECT u.thread_id FROM turns AS u
        WHERE u.session_id = $1 AND u.session_seq < $2 AND u.phase IN ('queued', 'running', 'waiting')
    )
    AND ($6 = 1 OR h.thread_id IS NULL OR h.next_check_at_us <= $3 OR h.seq <> t.seq)
ORDER BY t.id
LIMIT $4;
