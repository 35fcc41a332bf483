-- $1 after this thread id, $2 how many at most, $3 session id. Rows: id, key.
SELECT id, key FROM threads WHERE session_id = $3 AND id > $1 ORDER BY id LIMIT $2;
