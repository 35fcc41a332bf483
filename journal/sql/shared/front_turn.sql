-- $1 thread id. Row: the body of the first queued turn.
SELECT body FROM turns WHERE thread_id = $1 AND phase = 'queued' ORDER BY queue_order LIMIT 1;
