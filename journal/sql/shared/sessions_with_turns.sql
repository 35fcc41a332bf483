-- $1 after this session id, $2 how many at most. Rows: session id, the least session seq of its live turns.
SELECT session_id, min(session_seq) FROM turns
WHERE phase IN ('queued', 'running', 'waiting') AND session_id > $1
GROUP BY session_id
ORDER BY session_id
LIMIT $2;
