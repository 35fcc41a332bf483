-- $1 now, $2 after this thread id, $3 how many at most: threads with an open question whose time is up, whatever hints say.
-- Rows: id, key, seq, at_us, control and reducer_version of the thread, paused and cancelled_seq of its session,
-- seq, next_check_at_us and wakes of its hint (null: none), the body of the front of its queue if no turn is active.
SELECT t.id, t.key, t.seq, t.at_us, t.control, t.reducer_version, s.paused, s.cancelled_seq, h.seq, h.next_check_at_us, h.wakes,
    CASE WHEN t.active_turn IS NULL THEN (
        SELECT q.body FROM turns AS q WHERE q.thread_id = t.id AND q.phase = 'queued' ORDER BY q.queue_order LIMIT 1
    ) END
FROM deadlines AS d
JOIN threads AS t ON t.id = d.thread_id
JOIN sessions AS s ON s.id = t.session_id
LEFT JOIN hints AS h ON h.thread_id = t.id
WHERE d.due_us <= $1 AND d.thread_id > $2 AND s.deleted_at_us IS NULL
ORDER BY d.thread_id
LIMIT $3;
