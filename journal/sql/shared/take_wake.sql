-- $1 thread id, $2 its seq, $3 next check, $4 wakes, $5 now, $6 1: another's hint does not count.
-- Row: the id, if nobody else has looked after it meanwhile.
INSERT INTO hints (thread_id, seq, next_check_at_us, wakes) VALUES ($1, $2, $3, $4)
ON CONFLICT (thread_id) DO UPDATE
SET seq = excluded.seq, next_check_at_us = excluded.next_check_at_us, wakes = excluded.wakes
WHERE $6 = 1 OR hints.next_check_at_us <= $5 OR hints.seq <> excluded.seq
RETURNING thread_id;
