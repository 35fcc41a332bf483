-- $1 thread id, $2 expected seq, $3..$12 the head. Rows: the id, or none when the head stands elsewhere.
UPDATE threads
SET seq = $3, hash = $4, at_us = $5, epoch = $6, control = $7, reducer_version = $8,
    tail_bytes = tail_bytes + $9, total_bytes = total_bytes + $9,
    queued = $10, active_turn = $11, runnable = $12,
    searched_seq = CASE WHEN searched_seq = $2 THEN $3 ELSE searched_seq END
WHERE id = $1 AND seq = $2
RETURNING id;
