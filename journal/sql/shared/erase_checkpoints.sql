-- $1 thread id, $2 how many at most. Rows: one for each.
DELETE FROM checkpoints WHERE thread_id = $1 AND seq IN (
    SELECT c.seq FROM checkpoints AS c WHERE c.thread_id = $1 ORDER BY c.seq LIMIT $2
)
RETURNING 1;
