-- $1 now. Rows: what, of which kind, how many, since when the longest (null: not told), over all tenants: turns that have
-- not ended by phase, those of them that are paused, open questions by kind, and threads that are due to be looked at.
SELECT 'turns', phase, count(*), min(created_us) FROM turns
WHERE phase IN ('queued', 'running', 'waiting') GROUP BY phase
UNION ALL SELECT 'turns', 'cancelling', count(*), min(t.created_us) FROM threads AS h
JOIN turns AS t ON t.turn_id = h.active_turn
WHERE h.runnable = 1 AND t.phase = 'cancelling'
UNION ALL SELECT 'paused', '', count(*), min(created_us) FROM turns
WHERE phase IN ('queued', 'running', 'waiting') AND pause <> 'none'
UNION ALL SELECT 'questions', kind, count(*), min(asked_us) FROM interactions WHERE state = 'open' GROUP BY kind
UNION ALL SELECT 'due', '', count(*), min(h.next_check_at_us) FROM threads AS t
JOIN hints AS h ON h.thread_id = t.id
WHERE t.runnable = 1 AND h.next_check_at_us <= $1;
