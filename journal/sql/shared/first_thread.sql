-- $1 session id. Row: the key of one of its threads.
SELECT key FROM threads WHERE session_id = $1 ORDER BY id LIMIT 1;
