-- $1 session id, $2 now: threads with an open question about a budget are looked at, as if its time were up.
INSERT INTO deadlines (thread_id, due_us)
SELECT DISTINCT thread_id, CAST($2 AS bigint) FROM interactions
WHERE session_id = $1 AND state = 'open' AND kind = 'budget'
ON CONFLICT (thread_id) DO UPDATE
SET due_us = CASE WHEN excluded.due_us < deadlines.due_us THEN excluded.due_us ELSE deadlines.due_us END;
