-- $1 session id, $2 now: threads that wait for what others reserved are looked at, as if a question's time were up.
INSERT INTO deadlines (thread_id, due_us)
SELECT thread_id, CAST($2 AS bigint) FROM spent WHERE session_id = $1 AND waits_us > 0
ON CONFLICT (thread_id) DO UPDATE
SET due_us = CASE WHEN excluded.due_us < deadlines.due_us THEN excluded.due_us ELSE deadlines.due_us END;
