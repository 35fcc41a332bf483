-- $1 session id. Rows: generation, name, state, created_us, next, looked_us, error of those that have not ended, oldest
-- first.
SELECT generation, name, state, created_us, next, looked_us, error
FROM schedules WHERE session_id = $1 AND state <> 'ended' ORDER BY generation;
