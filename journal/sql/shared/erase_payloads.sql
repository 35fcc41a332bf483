-- $1 thread id, $2 how many at most: the oldest. Rows: one for each.
DELETE FROM payloads WHERE thread_id = $1 AND seq < $2 + (SELECT min(p.seq) FROM payloads AS p WHERE p.thread_id = $1)
RETURNING 1;
