-- $1 thread id, $2 how many at most: the oldest. Rows: one for each.
DELETE FROM entries WHERE thread_id = $1 AND seq < $2 + (SELECT min(e.seq) FROM entries AS e WHERE e.thread_id = $1)
RETURNING 1;
