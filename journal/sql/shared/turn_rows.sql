-- $1 thread id. Rows: turn_id, body, session_id, tenant, queue_order, phase, pause, queued_seq, session_seq, created_us.
SELECT turn_id, body, session_id, tenant, queue_order, phase, pause, queued_seq, session_seq, created_us
FROM turns WHERE thread_id = $1 ORDER BY turn_id;
