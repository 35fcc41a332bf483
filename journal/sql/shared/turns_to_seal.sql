-- $1 thread id, $2 after this turn id, $3 how many at most. Rows: turn id, body.
SELECT turn_id, body FROM turns WHERE thread_id = $1 AND turn_id > $2 ORDER BY turn_id LIMIT $3;
