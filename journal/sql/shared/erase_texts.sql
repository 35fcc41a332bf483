-- $1 thread id, $2 how many at most. Rows: one for each.
DELETE FROM texts WHERE id IN (SELECT t.id FROM texts AS t WHERE t.thread_id = $1 ORDER BY t.seq LIMIT $2)
RETURNING 1;
