-- $1 target, $2 after this thread id, $3 how many at most. Rows: thread ids. What was brought there is not there any more;
-- another number each time, as in `forget_snapshots`.
UPDATE snapshots SET seq = CASE WHEN seq < 0 THEN seq - 1 ELSE -1 END WHERE target = $1 AND thread_id IN (
    SELECT s.thread_id FROM snapshots AS s WHERE s.target = $1 AND s.thread_id > $2 ORDER BY s.thread_id LIMIT $3
)
RETURNING thread_id;
