-- $1 session id, $2 how many at most. Rows: one for each. What was brought outside of a deleted session is to go.
UPDATE snapshots SET doomed = 1 WHERE (thread_id, target) IN (
    SELECT s.thread_id, s.target FROM snapshots AS s WHERE s.session_id = $1 AND s.doomed = 0
    ORDER BY s.thread_id LIMIT $2
)
RETURNING 1;
