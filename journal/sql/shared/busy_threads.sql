-- $1 session id, $2 after this thread id, $3 how many at most. Rows: id, key of threads with an active or queued turn.
SELECT id, key FROM threads
WHERE session_id = $1 AND id > $2 AND (queued > 0 OR active_turn IS NOT NULL) ORDER BY id LIMIT $3;
