-- $1 thread id, $2..$8 seq, hash, at_us, epoch, control, reducer_version, total_bytes, $9 queued, $10 active_turn,
-- $11 runnable: what the entries add up to. Its checkpoints are gone, so everything is its tail.
UPDATE threads
SET seq = $2, hash = $3, at_us = $4, epoch = $5, control = $6, reducer_version = $7, total_bytes = $8, tail_bytes = $8,
    checkpoint_bytes = 0, queued = $9, active_turn = $10, runnable = $11
WHERE id = $1;
