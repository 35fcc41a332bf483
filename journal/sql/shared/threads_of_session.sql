-- $1 session id, $2 after this thread id, $3 how many at most. Rows: id, key, control, reducer_version, seq, at_us.
SELECT id, key, control, reducer_version, seq, at_us FROM threads
WHERE session_id = $1 AND id > $2 AND agent <> '' ORDER BY id LIMIT $3;
