-- $1 tenant. Rows: a name and a number: turns that have not ended, by phase, and open questions, by kind.
SELECT 'turns_' || phase, count(*) FROM turns
WHERE tenant = $1 AND phase IN ('queued', 'running', 'waiting') GROUP BY phase
UNION ALL SELECT 'turns_' || t.phase, count(*) FROM threads AS h JOIN turns AS t ON t.turn_id = h.active_turn
WHERE h.runnable = 1 AND h.tenant = $1 AND t.phase = 'cancelling' GROUP BY t.phase
UNION ALL SELECT 'questions_' || kind, count(*) FROM interactions WHERE tenant = $1 AND state = 'open' GROUP BY kind;
