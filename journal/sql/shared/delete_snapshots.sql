-- $1 target, $2 how many at most. Rows: one for each.
DELETE FROM snapshots WHERE target = $1 AND thread_id IN (
    SELECT s.thread_id FROM snapshots AS s WHERE s.target = $1 ORDER BY s.thread_id LIMIT $2
)
RETURNING 1;
