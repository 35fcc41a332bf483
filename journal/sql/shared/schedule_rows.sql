-- $1 session id. Rows: generation, name, state, changes, created_us, changed_us of those that have not ended, oldest first.
SELECT generation, name, state, changes, created_us, changed_us
FROM schedules WHERE session_id = $1 AND state <> 'ended' ORDER BY generation;
