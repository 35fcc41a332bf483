-- $1 now. Rows: what, of which kind, how many, since when the longest (null: not told), over all tenants: turns that have
-- not ended by phase, those of them that are paused, threads whose next turn could begin (since their last entry: what it
-- waited for ended with one), open questions by kind, and threads that are due to be looked at.
SELECT 'turns', phase, count(*), min(created_us) FROM turns
WHERE phase IN ('queued', 'running', 'waiting') GROUP BY phase
UNION ALL SELECT 'turns', 'cancelling', count(*), min(t.created_us) FROM threads AS h
JOIN turns AS t ON t.turn_id = h.active_turn
WHERE h.runnable = 1 AND t.phase = 'cancelling'
UNION ALL SELECT 'paused', '', count(*), min(created_us) FROM turns
WHERE phase IN ('queued', 'running', 'waiting') AND pause <> 'none'
UNION ALL SELECT 'ready', '', count(*), min(t.at_us) FROM threads AS t
JOIN sessions AS s ON s.id = t.session_id
WHERE t.runnable = 1 AND t.active_turn IS NULL AND s.deleted_at_us IS NULL AND s.paused = 0
UNION ALL SELECT 'questions', kind, count(*), min(asked_us) FROM interactions WHERE state = 'open' GROUP BY kind
UNION ALL SELECT 'due', '', count(*),
    min(CASE WHEN h.seq = t.seq AND h.next_check_at_us > t.at_us THEN h.next_check_at_us ELSE t.at_us END)
FROM threads AS t
JOIN sessions AS s ON s.id = t.session_id
LEFT JOIN hints AS h ON h.thread_id = t.id
WHERE t.runnable = 1 AND s.deleted_at_us IS NULL AND (s.paused = 0 OR t.active_turn IS NOT NULL)
    AND (h.thread_id IS NULL OR h.seq <> t.seq OR h.next_check_at_us <= $1);
