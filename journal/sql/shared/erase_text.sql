-- $1 thread id, $2 seq.
DELETE FROM texts WHERE thread_id = $1 AND seq = $2;
