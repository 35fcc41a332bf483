-- $1 now. Rows: what, of which kind, how many, since when the longest (null: not told), over all tenants: turns that have
-- not ended by phase, those of them that are paused, threads whose next turn could begin (since their last entry: what it
-- waited for ended with one), open questions by kind, and threads that are due to be looked at. Nothing of sessions that
-- are deleted, or not imported to the end, is counted: nobody finds it elsewhere either.
SELECT 'turns', t.phase, count(*), min(t.created_us) FROM turns AS t
JOIN threads AS h ON h.id = t.thread_id
JOIN sessions AS s ON s.id = h.session_id
WHERE t.phase IN ('queued', 'running', 'waiting') AND s.deleted_at_us IS NULL GROUP BY t.phase
UNION ALL SELECT 'turns', 'cancelling', count(*), min(t.created_us) FROM threads AS h
JOIN turns AS t ON t.turn_id = h.active_turn
JOIN sessions AS s ON s.id = h.session_id
WHERE h.runnable = 1 AND t.phase = 'cancelling' AND s.deleted_at_us IS NULL
UNION ALL SELECT 'paused', '', count(*), min(t.created_us) FROM turns AS t
JOIN threads AS h ON h.id = t.thread_id
JOIN sessions AS s ON s.id = h.session_id
WHERE t.phase IN ('queued', 'running', 'waiting') AND t.pause <> 'none' AND s.deleted_at_us IS NULL
UNION ALL SELECT 'ready', '', count(*), min(t.at_us) FROM threads AS t
JOIN sessions AS s ON s.id = t.session_id
WHERE t.runnable = 1 AND t.active_turn IS NULL AND s.deleted_at_us IS NULL AND s.paused = 0
UNION ALL SELECT 'questions', i.kind, count(*), min(i.asked_us) FROM interactions AS i
JOIN threads AS h ON h.id = i.thread_id
JOIN sessions AS s ON s.id = h.session_id
WHERE i.state = 'open' AND s.deleted_at_us IS NULL GROUP BY i.kind
UNION ALL SELECT 'due', '', count(*),
    min(CASE WHEN h.seq = t.seq AND h.next_check_at_us > t.at_us THEN h.next_check_at_us ELSE t.at_us END)
FROM threads AS t
JOIN sessions AS s ON s.id = t.session_id
LEFT JOIN hints AS h ON h.thread_id = t.id
WHERE t.runnable = 1 AND s.deleted_at_us IS NULL AND (s.paused = 0 OR t.active_turn IS NOT NULL)
    AND (h.thread_id IS NULL OR h.seq <> t.seq OR h.next_check_at_us <= $1);
