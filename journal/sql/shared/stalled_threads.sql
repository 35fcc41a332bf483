-- $1 after this thread id, $2 now, $3 appended to before (or after now: the clock was set back), $4 1: hints do not
-- count, $5 how many at most, $6 1: nor does it count that a thread waits for what another one reserved, which is looked
-- at when that is given back, $7 nobody waits for longer than until then (or the clock was set back).
-- Rows: id, key, seq, at_us, control and reducer_version of the thread, paused and cancelled_seq of its session,
-- seq, next_check_at_us and wakes of its hint (null: none), the body of the front of its queue if no turn is active.
SELECT t.id, t.key, t.seq, t.at_us, t.control, t.reducer_version, s.paused, s.cancelled_seq, h.seq, h.next_check_at_us, h.wakes,
    CASE WHEN t.active_turn IS NULL THEN (
        SELECT q.body FROM turns AS q WHERE q.thread_id = t.id AND q.phase = 'queued' ORDER BY q.queue_order LIMIT 1
    ) END
FROM threads AS t
JOIN sessions AS s ON s.id = t.session_id
LEFT JOIN hints AS h ON h.thread_id = t.id
WHERE t.runnable = 1 AND t.id > $1 AND (t.at_us < $3 OR t.at_us > $2) AND s.deleted_at_us IS NULL
    AND (s.paused = 0 OR t.active_turn IS NOT NULL)
    AND ($6 = 1 OR NOT EXISTS (SELECT 1 FROM spent AS w WHERE w.thread_id = t.id AND w.waits_us > $3 AND w.waits_us <= $7))
    AND ($4 = 1 OR h.thread_id IS NULL OR h.next_check_at_us <= $2 OR h.seq <> t.seq)
ORDER BY t.id
LIMIT $5;
