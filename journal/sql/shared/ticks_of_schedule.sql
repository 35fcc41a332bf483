-- $1 session id, $2 generation, $3 how many at most.
-- Rows: due_us, at_us, turn_id, code, reason, by_hand, the newest first.
SELECT due_us, at_us, turn_id, code, reason, by_hand
FROM ticks WHERE session_id = $1 AND generation = $2 ORDER BY seq DESC LIMIT $3;
