-- $1 thread id, $2 queue order. Row: how many queued turns stand before it.
SELECT count(*) FROM turns WHERE thread_id = $1 AND phase = 'queued' AND queue_order < $2;
