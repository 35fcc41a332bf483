-- $1 thread id, $2 how many at most. Rows: one for each.
DELETE FROM ticks WHERE thread_id = $1 AND seq IN (
    SELECT t.seq FROM ticks AS t WHERE t.thread_id = $1 ORDER BY t.seq LIMIT $2
)
RETURNING 1;
