-- $1 thread id, $2 its seq, $3 next check.
INSERT INTO hints (thread_id, seq, next_check_at_us, wakes) VALUES ($1, $2, $3, 0)
ON CONFLICT (thread_id) DO UPDATE
SET seq = excluded.seq, next_check_at_us = excluded.next_check_at_us,
    wakes = CASE WHEN hints.seq = excluded.seq THEN hints.wakes ELSE 0 END;
