-- $1 target, $2 session id, $3 how many at most. Rows: the thread's id, its key.
SELECT s.thread_id, s.thread_key FROM snapshots AS s WHERE s.target = $1 AND s.session_id = $2 AND s.doomed = 1
ORDER BY s.thread_id LIMIT $3;
