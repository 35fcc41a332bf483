-- $1 thread id, $2 only turns queued before this entry of the session, $3 how many at most. Rows: bodies, in order.
SELECT body FROM turns
WHERE thread_id = $1 AND phase = 'queued' AND session_seq < $2 ORDER BY queue_order LIMIT $3;
